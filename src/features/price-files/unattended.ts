/** What the command line does without a person. Pure. */
import type { Found, Reading } from './found.ts'

/** Whether a person has to look at a file before it is sent: page one, a box, and any new value or text, dates too. */
export function stopsUnattended({ found }: Pick<Reading, 'found'>): boolean {
  if (!found) return true
  const { newTexts, newValues, uncomparedTexts } = found.compared
  // With nothing received before, everything is a difference.
  const isFirst = found.compared.with === null
  return isFirst || found.box.length > 0 || newTexts.length > 0 || newValues.length > 0 || uncomparedTexts > 0
}

/** What a person would look at, as a text that is the same for the same differences and rows. */
export const differencesOf = ({ compared, constants, examples, rejected, box, items }: Found): string =>
  JSON.stringify([compared, constants, examples, rejected, box, items])
