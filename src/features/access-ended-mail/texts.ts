import { webTexts } from '../../web/feature-api.ts'

/** The texts of an email, as in `src/web/texts.ts`. The names in them are on one line, and can't become links. */
export const texts = {
  /** Contains no text that others typed. */
  subject: 'Access to a connected business has ended',
  lead: (name: string) => `${webTexts.layout.appName} can no longer use ${name}.`,
  reconnect: (name: string) => `Reconnect ${name}`,
  intended: "If access was meant to end, you don't need to do anything. This is the only email about it.",
}
