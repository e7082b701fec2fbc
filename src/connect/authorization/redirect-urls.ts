/** The two return addresses that the platform registers for this app: for the bxcontext, and for the callback. */
export const redirectUrls = (baseUrl: string) =>
  [`${baseUrl}/connect/context`, `${baseUrl}/connect/callback`] as const
