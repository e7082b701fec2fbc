/** Decides whether the command line sends a file that no person has looked at. Pure. */
import type { Reading } from './found.ts'

/**
 * Whether a person must look at a file first. A person must, if page one is not complete, if page two asks for a tick, or if there is
 * a new text, value or date. A new amount beside the price is no reason.
 */
export function stopsUnattended({ found }: Pick<Reading, 'found'>): boolean {
  // If nothing was received before, everything is a difference.
  if (!found?.compared.with) return true
  const { newTexts, newValues, uncomparedTexts } = found.compared
  const isNew = newValues.some(({ values, dates, isMany }) => values.length + dates > 0 || isMany)
  return isNew || found.box.length + newTexts.length + uncomparedTexts > 0
}
