/** When the command line sends a file without a person. Pure. */
import type { Reading } from './found.ts'

/**
 * Whether a person must look at a file first: at page one, a box, or a new text or value. A new date counts, but a new amount
 * beside the price does not.
 */
export function stopsUnattended({ found }: Pick<Reading, 'found'>): boolean {
  // If nothing was received before, everything is a difference.
  if (!found?.compared.with) return true
  const { newTexts, newValues, uncomparedTexts } = found.compared
  const isNew = newValues.some(({ values, dates, isMany }) => values.length + dates > 0 || isMany)
  return isNew || found.box.length + newTexts.length + uncomparedTexts > 0
}
