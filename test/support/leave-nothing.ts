/** A setup file for vitest. Even after a failure, no process outlives the test file that started it. */
import { afterAll } from 'vitest'
import { endChildren } from './children.ts'

afterAll(endChildren)
