/** What the pages say about each parameter. */
import { platform } from '../../connect/index.ts'

export interface Explanation {
  /** What it is. */
  what: string
  /** Who made it, what it must equal, and who checks that, as far as there is something to say. */
  madeBy?: string
  mustEqual?: string
  checkedBy?: string
  /** What an attacker could do if nobody checked it. */
  attack?: string
  /** The section of the RFC or the specification. */
  reference: string
}

const BXCONTEXT: Explanation = {
  what: 'The business that the user chose. It is not a secret.',
  madeBy: 'The platform, when the user chooses.',
  mustEqual: 'The same value in the consent request, the code exchange, and every refresh.',
  checkedBy:
    'This app accepts it only for a connect flow that this browser session started. The platform checks that the tokens belong to it.',
  attack: 'Plant another business in the user’s browser, so that the user works in the attacker’s account.',
  reference: 'Specification 5.3.2 and 5.3.6; assumption “bxcontext”',
}

const NAME = {
  madeBy: 'The platform, if it names it.',
  checkedBy: 'Nobody. This app only shows it.',
  reference: 'Assumption “names”',
}

const PAGING = {
  madeBy: 'This app.',
  checkedBy: 'The API.',
  reference: 'Assumption “lists”; OData 4.01, system query options',
}

const TEXTS: Record<string, Explanation> = {
  [platform.startPage.redirectUrl]: {
    what: 'Where the platform sends the browser after the user has chosen a business.',
    madeBy: 'This app, from BASE_URL.',
    mustEqual: 'One of the redirect URLs that are registered for this app, exactly, without a query.',
    checkedBy: 'The platform, before it shows the start page.',
    attack: 'Send the user’s bxcontext to a site of the attacker, or use the platform as an open redirect.',
    reference: 'Specification 5.3.2; RFC 9700 section 4.1',
  },
  // The app's own form has it under this name, whatever the platform calls it.
  bxcontext: BXCONTEXT,
  [platform.bxcontextParameter]: BXCONTEXT,
  response_type: {
    what: 'The kind of answer: an authorization code.',
    madeBy: 'This app.',
    mustEqual: 'code',
    checkedBy: 'The platform.',
    attack: 'Get tokens into the address bar, where history and logs keep them.',
    reference: 'RFC 6749 section 4.1.1; RFC 9700 section 2.1.2',
  },
  client_id: {
    what: 'Which app is asking. It is not a secret.',
    madeBy: 'The platform’s support team, when the app was registered.',
    mustEqual: 'The id of a registered app; the same in every request.',
    checkedBy: 'The platform, which shows the app’s name on the consent page.',
    attack: 'Borrow the name of a trusted app on the consent page.',
    reference: 'RFC 6749 section 2.2',
  },
  client_secret: {
    what: 'The password of this app at the token endpoint. It never passes through the browser.',
    madeBy: 'The platform’s support team, when the app was registered.',
    mustEqual: 'The secret of this client id.',
    checkedBy: 'The platform, at every token request.',
    attack: 'Exchange stolen codes, and use stolen refresh tokens.',
    reference: 'RFC 6749 section 2.3.1',
  },
  redirect_uri: {
    what: 'Where the platform sends the browser with the code.',
    madeBy: 'This app, from BASE_URL.',
    mustEqual: 'A registered URL, exactly, and the same value again in the code exchange.',
    checkedBy: 'The platform, at the consent page and at the token endpoint.',
    attack: 'Receive the code at an address of the attacker.',
    reference: 'RFC 6749 section 4.1.3; RFC 9700 section 2.1',
  },
  scope: {
    what: 'The permissions that the app asks for, or those that the user granted.',
    madeBy: 'This app asks; the user and the platform decide.',
    mustEqual:
      'The answer may hold fewer than were asked for. By RFC 6749, an answer without it grants all of them; this app treats them as unknown, since the specification does not say.',
    checkedBy: 'The API, at every call. This app compares both and offers to ask again.',
    attack: 'Do everything that the user can do.',
    reference: 'RFC 6749 sections 3.3 and 5.1',
  },
  state: {
    what: 'A random value that ties the answer to this browser session and to one connect flow.',
    madeBy: 'This app, new for each flow.',
    mustEqual: 'The state of the callback must be the one that was sent. Compare the two fingerprints.',
    checkedBy: 'This app, before it looks at anything else in the callback. It can be used once.',
    attack: 'Make the user’s browser finish a flow that the attacker started (login CSRF).',
    reference: 'RFC 6749 section 10.12; RFC 9700 section 4.7',
  },
  code_challenge: {
    what: 'The SHA-256 digest of the code verifier (PKCE).',
    madeBy: 'This app, from a verifier that only it knows.',
    mustEqual: 'The digest of the verifier that comes with the code exchange.',
    checkedBy: 'The platform, at the token endpoint.',
    attack: 'Exchange a stolen code, or inject it into the flow of somebody else.',
    reference: 'RFC 7636 section 4.2; RFC 9700 section 4.5',
  },
  code_challenge_method: {
    what: 'How the challenge was made.',
    madeBy: 'This app.',
    mustEqual: 'S256. With “plain”, the challenge would be the verifier itself.',
    checkedBy: 'The platform.',
    attack: 'Downgrade the protection, so that whoever sees the consent URL knows the verifier.',
    reference: 'RFC 7636 sections 4.3 and 7.2',
  },
  code_verifier: {
    what: 'The secret behind the code challenge.',
    madeBy: 'This app, new for each flow. It leaves the app only here.',
    mustEqual: 'Its SHA-256 digest is the code_challenge of the consent request.',
    checkedBy: 'The platform, at the token endpoint.',
    attack: 'Exchange a stolen code, or inject it into another flow.',
    reference: 'RFC 7636 section 4.5',
  },
  code: {
    what: 'The authorization code: proof that the user gave consent. It works once, and only for a short time.',
    madeBy: 'The platform, when the user allows access.',
    mustEqual: 'The code that is exchanged is the one that the callback brought. Compare the fingerprints.',
    checkedBy: 'The platform. This app sends it at most once and removes it from the address bar.',
    attack: 'Exchange it before this app does. PKCE and the client secret prevent that.',
    reference: 'RFC 6749 sections 4.1.2 and 10.5',
  },
  iss: {
    what: 'Which identity provider answers.',
    madeBy: 'The platform.',
    mustEqual: 'The address of the identity provider to which this app sent the browser.',
    checkedBy: 'This app, if the answer carries it.',
    attack: 'Mix up two providers, so that the code of one is sent to the other.',
    reference: 'RFC 9207; RFC 9700 section 4.4',
  },
  error: {
    what: 'Why there is no code or no token.',
    madeBy: 'The platform.',
    mustEqual: 'A code such as access_denied, invalid_grant or invalid_client.',
    checkedBy:
      'This app: only invalid_grant means that access was revoked; other errors keep the connection.',
    attack: 'Open the callback with any error. Without the right state, it changes nothing.',
    reference: 'RFC 6749 sections 4.1.2.1 and 5.2',
  },
  error_description: {
    what: 'A sentence about the error, for developers.',
    madeBy: 'The platform.',
    checkedBy: 'Nobody. Only this inspector shows it, as text.',
    attack: 'Put misleading text on a page of this app.',
    reference: 'RFC 6749 sections 4.1.2.1 and 5.2',
  },
  grant_type: {
    what: 'What is exchanged for tokens: a code, or a refresh token.',
    madeBy: 'This app.',
    mustEqual: 'authorization_code or refresh_token.',
    checkedBy: 'The platform.',
    reference: 'RFC 6749 sections 4.1.3 and 6',
  },
  access_token: {
    what: 'The key to the API for one business and the granted permissions. It is valid for minutes.',
    madeBy: 'The platform. Every refresh makes a new one: the fingerprint changes.',
    mustEqual: 'The token that the API receives is the one that the platform issued last.',
    checkedBy: 'The API, at every call.',
    attack: 'Call the API until the token expires.',
    reference: 'RFC 6749 section 1.4; RFC 6750 section 5',
  },
  authorization: {
    what: 'The access token, sent to the API as a bearer token.',
    madeBy: 'The platform issued it; this app sends it.',
    mustEqual: 'The access token of the latest token response. Compare the fingerprints.',
    checkedBy: 'The API, at every call. This app sends it only to the configured API address.',
    attack: 'Call the API until the token expires.',
    reference: 'RFC 6750 section 2.1',
  },
  refresh_token: {
    what: 'The key to new access tokens. It can be used again while it is active.',
    madeBy: 'The platform, at each consent.',
    mustEqual:
      'The one that is sent is the one that was received last. If the answer has another one, the platform rotates refresh tokens.',
    checkedBy: 'The platform, together with the client secret and the bxcontext.',
    attack: 'Keep access for a long time, together with the client secret. This app stores it encrypted.',
    reference: 'RFC 6749 section 6; RFC 9700 section 4.14; specification 5.3.6',
  },
  expires_in: {
    what: 'How long the access token is valid, in seconds.',
    madeBy: 'The platform.',
    mustEqual: 'A number. Without it, this app assumes five minutes.',
    checkedBy: 'This app refreshes before it is over. The platform decides when it really is.',
    reference: 'RFC 6749 section 5.1',
  },
  token_type: {
    what: 'How the access token is sent.',
    madeBy: 'The platform.',
    mustEqual: 'Bearer.',
    checkedBy: 'This app.',
    reference: 'RFC 6749 section 7.1; RFC 6750 section 6.1.1',
  },
  business_name: { what: 'The name of the business, for people.', ...NAME },
  user_name: { what: 'The name of the person who gave consent.', ...NAME },
  answer: {
    what: 'The button that the user pressed on the consent page.',
    madeBy: 'The user.',
    mustEqual: 'accept or deny.',
    checkedBy: 'The platform, which asks only users who are logged in.',
    attack: 'Trick the user into pressing it inside an invisible frame (clickjacking).',
    reference: 'RFC 9700 section 4.16',
  },
  location: {
    what: 'Where the browser goes next. If it has parameters, they are listed too.',
    reference: 'RFC 9110 section 10.2.2',
  },
  'content-type': { what: 'The format of the body.', reference: 'RFC 9110 section 8.3' },
  accept: { what: 'The format that this app can read.', reference: 'RFC 9110 section 12.5.1' },
  'retry-after': { what: 'How long to wait before the next request.', reference: 'RFC 9110 section 10.2.3' },
  'www-authenticate': {
    what: 'Why the API refuses the token, and perhaps the missing scope.',
    reference: 'RFC 6750 section 3',
  },
  [platform.paging.totalHeader]: {
    what: 'The total number of entries of a list.',
    reference: 'Assumption “lists”',
  },
  response_mode: {
    what: 'How the answer reaches the app.',
    reference: 'OAuth 2.0 Multiple Response Type Encoding Practices section 2.1',
  },
  audience: { what: 'The API for which the token is meant.', reference: 'PLATFORM_AUTHORIZE_PARAMS' },
  resource: { what: 'The API for which the token is meant.', reference: 'RFC 8707 section 2' },
  prompt: {
    what: 'Whether the platform asks the user again.',
    reference: 'OpenID Connect Core section 3.1.2.1',
  },
  [platform.paging.top]: { what: 'How many entries a page has.', ...PAGING },
  [platform.paging.skip]: { what: 'How many entries to skip.', ...PAGING },
  [platform.paging.orderBy]: { what: 'The order of the entries.', ...PAGING },
  [platform.paging.filter]: { what: 'Which entries to return.', ...PAGING },
  [platform.paging.count]: { what: 'Asks for the total number of entries, in a header.', ...PAGING },
}

const UNKNOWN: Explanation = {
  what: 'A parameter that this app does not know. Its value is masked, in case it is a secret.',
  madeBy: 'The sender of this message.',
  checkedBy: 'Not this app.',
  reference: 'RFC 6749 sections 3.1 and 4.1.2: unknown parameters are ignored',
}

/** What the pages say about a parameter or header. */
export const explain = (name: string): Explanation =>
  (Object.hasOwn(TEXTS, name) ? TEXTS[name] : undefined) ?? UNKNOWN

/** The names of all parameters that have a text of their own. */
export const EXPLAINED = Object.keys(TEXTS)
