/** When the command line sends a file without a person. Pure. */
import type { Found, Reading } from './found.ts'

/** Whether a person has to look at a file first: page one, a box, any new value or text, dates too. */
export function stopsUnattended({ found }: Pick<Reading, 'found'>): boolean {
  // With nothing received before, everything is a difference.
  if (!found?.compared.with) return true
  const { newTexts, newValues, uncomparedTexts } = found.compared
  return found.box.length + newTexts.length + newValues.length + uncomparedTexts > 0
}

/** What a person would look at, as a text that is the same for the same differences and rows. */
export const differencesOf = ({ compared, constants, examples, rejected, box, items }: Found): string =>
  JSON.stringify([compared, constants, examples, rejected, box, items])
