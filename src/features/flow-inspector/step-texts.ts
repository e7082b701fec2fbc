import type { Topic } from './flow.ts'

/** The texts about a kind of step. */
export interface StepText {
  /** Explains the step and its purpose. */
  about: string
  /** The presenter's words while the step is on the screen. */
  say: string
  reference: string
}

export const STEP_TEXTS: Record<Topic, StepText> = {
  connect_started: {
    about:
      'The app stores a connect flow, which belongs to this user and this browser session. The browser has 15 minutes to come back.',
    say: 'The user starts it here, in the app. Nothing has been shared yet.',
    reference: 'RFC 9700 section 2.1',
  },
  to_start_page: {
    about:
      'The app sends the browser to oauth2.html. The address has only one parameter, so nothing in it ties the answer to this browser. The app itself remembers which browser it sent.',
    say: 'The app sends the user to the platform. From here on, the address bar shows the platform.',
    reference: 'Specification 5.3.2',
  },
  bxcontext_received: {
    about:
      'The app accepts a bxcontext only if this browser session has a connect flow that waits for one. Otherwise anyone could plant a bxcontext of their own with a link.',
    say: 'The platform tells the app which business the user chose. That’s all the app learns so far.',
    reference: 'Specification 5.3.2',
  },
  confirm_bxcontext: {
    about:
      'The user chose a business other than the one being reconnected. The app asks before it stores anything.',
    say: 'The app notices that this is a different business, and asks the user.',
    reference: 'Specification 5.3.5',
  },
  to_consent_page: {
    about:
      'The app asks for consent, and names itself, the business and the permissions. State and code challenge tie the answer to this flow.',
    say: 'Now the app asks for permission. It names itself, the business and what it wants to do.',
    reference: 'RFC 6749 section 4.1.1; RFC 7636 section 4.3',
  },
  callback_received: {
    about:
      'The browser brings a code or an error. The app looks up the connect flow by the state and claims it, so that the code is sent at most once.',
    say: 'The user has decided. Even if the one-time code is stolen, it’s useless without the app’s secret and the code verifier.',
    reference: 'RFC 6749 section 4.1.2',
  },
  code_exchange: {
    about: 'The app exchanges the code for tokens, directly with the platform. The browser never sees them.',
    say: 'The app trades the code for tokens, behind the scenes. The password was never involved.',
    reference: 'RFC 6749 section 4.1.3; RFC 7636 section 4.5',
  },
  record_written: {
    about:
      'The record is written by compare-and-set, its tokens encrypted with AES-256-GCM. The store never holds a readable token.',
    say: 'The app stores its tokens encrypted.',
    reference: 'RFC 6749 sections 10.3 and 10.4',
  },
  record_deleted: {
    about: 'The tokens are deleted. If access was revoked, the app keeps when and why.',
    say: 'The app deletes its tokens.',
    reference: 'RFC 6749 sections 10.3 and 10.4',
  },
  to_connections: {
    about: 'The app redirects at once, so that the code leaves the address bar and the history.',
    say: 'Connected. The user sees the business in the app.',
    reference: 'RFC 9700 sections 4.2 and 4.3',
  },
  flow_failed: {
    about:
      'The flow ended without a new connection. An earlier connection stays as it was. The page explains why, and offers to start again.',
    say: 'The app explains the problem, and offers to start again.',
    reference: 'RFC 6749 section 4.1.2.1',
  },
  token_refresh: {
    about:
      'The app gets a new access token with the refresh token and the bxcontext. The user does not notice.',
    say: 'The access token is short-lived. The app gets a new one from the platform without asking the user.',
    reference: 'RFC 6749 section 6; specification 5.3.6',
  },
  api_call: {
    about:
      'The app calls the API with the access token. After a 401, it refreshes once and repeats the call once.',
    say: 'The app asks for the user’s data, with the permissions that they granted.',
    reference: 'RFC 6750 sections 2.1 and 3.1',
  },
  lease_taken: {
    about:
      'Only one caller at a time may refresh a connection, even with several processes. The others wait for its result.',
    say: 'However many callers ask, only one of them refreshes.',
    reference: 'docs/architecture.md, “An access token”',
  },
  connection_event: {
    about: 'The core publishes this once, for logs, metrics and your own code.',
    say: 'The app now knows, and can react, for example with an email.',
    reference: 'src/connect/vault/connection.ts',
  },
  platform_start: {
    about:
      'The platform checks that the redirect URL is registered, and the user logs in and chooses one of their businesses. The app only knows when the browser left and when it came back.',
    say: 'The password goes to the platform, never to the app. The user chooses which business the app may use.',
    reference: 'Specification 4.3 and 5.3.2; RFC 9700 section 2.4',
  },
  platform_consent: {
    about:
      'The identity provider checks the client, the redirect URI and the permissions. The user sees who asks, for which business and for which permissions, and allows or denies it. The app only knows when the browser left and when it came back.',
    say: 'This is where the user decides: allow everything, only a part, or nothing at all.',
    reference: 'RFC 6749 sections 4.1 and 4.1.1',
  },
}
