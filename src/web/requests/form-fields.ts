import * as z from 'zod'
import { texts } from '../texts.ts'
import { localPath } from './return-to.ts'

/** A form's text field: trimmed, at most `max` characters. */
export const textField = (max: number) =>
  z
    .string({ error: ({ input }) => (input === undefined ? texts.rules.empty : texts.rules.text) })
    .trim()
    .max(max, texts.rules.tooLong(max))

/** A form sends a switch as text, and a program sends it as a boolean. */
export const switchField = z.union([z.boolean(), z.stringbool()]).default(false)

/** The page to return to, as a path of this app; null for any other value. */
export const returnToField = z.unknown().optional().transform(localPath)
