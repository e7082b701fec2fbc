import * as z from 'zod'
import { texts } from './texts.ts'

/** Text of a form: trimmed, at most `max` characters. */
export const textField = (max: number) =>
  z
    .string({ error: ({ input }) => (input === undefined ? texts.rules.empty : texts.rules.text) })
    .trim()
    .max(max, texts.rules.tooLong(max))
