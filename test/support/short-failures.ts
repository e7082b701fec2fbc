/** A setup file. Chai ignores a plugin that it has already. */
import { chai } from 'vitest'
import { pagesAsText } from './page-text.ts'

chai.use(pagesAsText)
