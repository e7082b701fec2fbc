/** Who may call the app's live pricing, as whom the sandbox does. */
export const PRICING_CLIENT = { clientId: 'sandbox-platform', clientSecret: 'sandbox-platform-secret' }
