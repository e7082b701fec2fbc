import type { Found, Reading } from './found.ts'

/** What differs, as one text: the same text for the same differences. */
export const differencesOf = ({ compared, box, rejected }: Found): string =>
  JSON.stringify([compared, box, rejected])

/** Whether a person has to look at a file before it is sent. */
export const stopsUnattended = ({ found }: Reading): boolean =>
  found === null ||
  found.box.length > 0 ||
  found.compared.newValues.length > 0 ||
  found.compared.newTexts.length > 0 ||
  found.compared.uncomparedTexts > 0
