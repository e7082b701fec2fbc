import { webTexts } from '../../web/kit.ts'

/** `name`: that of the connection, without characters that turn the text around it. */
export const texts = {
  subject: (name: string) => `Access to ${name} has ended`,
  lead: (name: string) => `${webTexts.layout.appName} can no longer use ${name}.`,
  reconnect: (name: string) => `Reconnect ${name}`,
  intended: 'If access was meant to end, there is nothing to do. This is the only mail about it.',
}
