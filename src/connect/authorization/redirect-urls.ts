/** The two return addresses that you register on the platform: for the bxcontext, and for the callback. */
export const redirectUrls = (baseUrl: string) =>
  [`${baseUrl}/connect/context`, `${baseUrl}/connect/callback`] as const
