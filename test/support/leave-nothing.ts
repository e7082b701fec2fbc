/** A setup file: no process outlives the file of tests that started it, whatever fails. */
import { afterAll } from 'vitest'
import { endChildren } from './children.ts'

afterAll(endChildren)
