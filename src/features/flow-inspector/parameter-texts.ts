/** The explanations of parameters on the pages. */
import { platform } from '../../connect/index.ts'

export interface Explanation {
  /** The meaning of the parameter. */
  what: string
  /** The party that makes it, the expected value, and the party that checks it. */
  rule: string
  /** An attack that would be possible without the check. */
  attack?: string
  /** The section of the RFC or the specification. */
  reference: string
}

const BXCONTEXT: Explanation = {
  what: 'The business that the user chose. It is not a secret.',
  rule: 'The platform sends it, and this app accepts it only for a connect flow that this browser session started. It must be the same in the consent request, the code exchange and every refresh. The platform checks that.',
  attack: 'Plant another business in the user’s browser, so that the user works in the attacker’s account.',
  reference: 'Specification 5.3.2 and 5.3.6; assumption “bxcontext”',
}

const NAME = {
  rule: 'The platform may send it. It isn’t checked, because this app only displays it.',
  reference: 'Assumption “names”',
}

const PAGING: Explanation = {
  what: 'How to split a list into pages, or sort, filter or count it.',
  rule: 'This app makes it, and the API checks it.',
  reference: 'Assumption “lists”; OData 4.01, system query options',
}

/** The text of a header that describes a message. */
const header = (what: string, reference: string): Explanation => ({
  what,
  rule: 'The sender makes it, and the other side reads it.',
  reference,
})

const SETTING: Explanation = {
  what: 'An additional parameter of the consent URL that the platform requires.',
  rule: 'This app takes it from PLATFORM_AUTHORIZE_PARAMS, and the platform checks it.',
  reference: 'RFC 8707 section 2; OpenID Connect Core section 3.1.2.1',
}

const TEXTS: Record<string, Explanation> = {
  [platform.startPage.redirectUrl]: {
    what: 'Where the platform sends the browser after the user has chosen a business.',
    rule: 'This app makes it from BASE_URL. It must exactly match a registered redirect URL. The platform checks that before it shows the start page.',
    attack: 'Send the user’s bxcontext to a site of the attacker, or use the platform as an open redirect.',
    reference: 'Specification 5.3.2; RFC 9700 section 4.1',
  },
  // The app's own form always uses this name, even if the platform uses another.
  bxcontext: BXCONTEXT,
  [platform.bxcontextParameter]: BXCONTEXT,
  response_type: {
    what: 'The kind of answer: an authorization code.',
    rule: 'This app sends “code”, and the platform checks it.',
    attack: 'Get tokens into the address bar, where history and logs keep them.',
    reference: 'RFC 6749 section 4.1.1; RFC 9700 section 2.1.2',
  },
  client_id: {
    what: 'The identifier of this app. It is not a secret.',
    rule: 'The platform’s support team issues it. It is the same in every request, and the platform shows the name of this app on the consent page.',
    attack: 'Borrow the name of a trusted app on the consent page.',
    reference: 'RFC 6749 section 2.2',
  },
  client_secret: {
    what: 'The password of this app at the token endpoint. It never passes through the browser.',
    rule: 'The platform’s support team issues it, and the platform checks it at every token request.',
    attack: 'Exchange stolen codes, and use stolen refresh tokens.',
    reference: 'RFC 6749 section 2.3.1',
  },
  redirect_uri: {
    what: 'Where the platform sends the browser with the code.',
    rule: 'This app makes it from BASE_URL. It must exactly match a registered URL, and be the same in the code exchange. The platform checks both.',
    attack: 'Receive the code at an address of the attacker.',
    reference: 'RFC 6749 section 4.1.3; RFC 9700 section 2.1',
  },
  scope: {
    what: 'The permissions that the app asks for, or those that the user granted.',
    rule: 'This app asks, and the user and the platform decide. The answer may list fewer permissions; if it lists none, this app treats them as unknown. The API checks them at every call. If one is missing, this app offers to ask again.',
    attack: 'Do everything that the user can do.',
    reference: 'RFC 6749 sections 3.3 and 5.1',
  },
  state: {
    what: 'A random value that ties the answer to this browser session and to one connect flow.',
    rule: 'This app makes a new one for each flow. The callback must return the same value, once. This app checks that first. Compare the two fingerprints.',
    attack: 'Make the user’s browser finish a flow that the attacker started (login CSRF).',
    reference: 'RFC 6749 section 10.12; RFC 9700 section 4.7',
  },
  code_challenge: {
    what: 'The SHA-256 digest of the code verifier (PKCE).',
    rule: 'This app makes it from a verifier that only it knows. The platform checks at the token endpoint that the verifier has this digest.',
    attack: 'Exchange a stolen code, or inject it into someone else’s flow.',
    reference: 'RFC 7636 section 4.2; RFC 9700 section 4.5',
  },
  code_challenge_method: {
    what: 'How the challenge was made.',
    rule: 'This app sends S256, and the platform checks it. With “plain”, the challenge would be the verifier itself.',
    attack: 'Downgrade the protection, so that whoever sees the consent URL knows the verifier.',
    reference: 'RFC 7636 sections 4.3 and 7.2',
  },
  code_verifier: {
    what: 'The secret behind the code challenge.',
    rule: 'This app makes a new one for each flow, and sends it only here. The platform checks that its digest is the code_challenge of the consent request.',
    attack: 'Exchange a stolen code, or inject it into another flow.',
    reference: 'RFC 7636 section 4.5',
  },
  code: {
    what: 'The authorization code: proof that the user gave consent. It works once, and only for a short time.',
    rule: 'The platform makes it when the user allows access, and checks it. This app sends the one that the callback brought, at most once, and removes it from the address bar. Compare the fingerprints.',
    attack: 'Exchange it before this app does. PKCE and the client secret prevent that.',
    reference: 'RFC 6749 sections 4.1.2 and 10.5',
  },
  iss: {
    what: 'The identity provider that answers.',
    rule: 'The platform may send it. This app checks that it is the identity provider to which it sent the browser.',
    attack: 'Mix up two providers, so that the code of one is sent to the other.',
    reference: 'RFC 9207; RFC 9700 section 4.4',
  },
  error: {
    what: 'Why the platform sent no code or token.',
    rule: 'The platform makes it. Only invalid_grant ends a connection at once. After any other error, this app keeps its tokens.',
    attack: 'Open the callback with any error. Without the right state, it changes nothing.',
    reference: 'RFC 6749 sections 4.1.2.1 and 5.2',
  },
  error_description: {
    what: 'A sentence about the error, for developers.',
    rule: 'The platform makes it. Only this inspector and the doctor show it, as text.',
    attack: 'Put misleading text on a page of this app.',
    reference: 'RFC 6749 sections 4.1.2.1 and 5.2',
  },
  grant_type: {
    what: 'The kind of grant that is exchanged for tokens: a code or a refresh token.',
    rule: 'This app sends authorization_code or refresh_token, and the platform checks it.',
    reference: 'RFC 6749 sections 4.1.3 and 6',
  },
  access_token: {
    what: 'The key to the API for one business and the granted permissions. It is valid for minutes.',
    rule: 'The platform makes a new one at every refresh: the fingerprint changes. The API checks at every call that it is still valid.',
    attack: 'Call the API until the token expires.',
    reference: 'RFC 6749 section 1.4; RFC 6750 section 5',
  },
  authorization: {
    what: 'The access token, sent to the API as a bearer token.',
    rule: 'The platform made it, and this app sends it only to the configured API, which checks it. Compare it with the latest token response.',
    attack: 'Call the API until the token expires.',
    reference: 'RFC 6750 section 2.1',
  },
  refresh_token: {
    what: 'The key to new access tokens. It can be used again while it is active.',
    rule: 'The platform makes it at each consent, and checks it with the client secret and the bxcontext. This app sends the latest one. If the answer contains a new one, the platform rotates refresh tokens.',
    attack: 'Keep access for a long time, together with the client secret. This app stores it encrypted.',
    reference: 'RFC 6749 section 6; RFC 9700 section 4.14; specification 5.3.6',
  },
  expires_in: {
    what: 'How long the access token is valid, in seconds.',
    rule: 'The platform makes it, and decides when the token really ends. This app refreshes before that; without a number, it assumes five minutes.',
    reference: 'RFC 6749 section 5.1',
  },
  token_type: {
    what: 'How the access token is sent.',
    rule: 'The platform sends Bearer. This app does not check it: it always sends the token as a bearer token.',
    reference: 'RFC 6749 section 7.1; RFC 6750 section 6.1.1',
  },
  business_name: { what: 'The name of the business, for people.', ...NAME },
  user_name: { what: 'The name of the person who gave consent.', ...NAME },
  location: header(
    'Where the browser goes next. Its parameters are listed on their own.',
    'RFC 9110 section 10.2.2',
  ),
  'content-type': header('The format of the body.', 'RFC 9110 section 8.3'),
  accept: header('The format that this app can read.', 'RFC 9110 section 12.5.1'),
  'retry-after': header('How long to wait before the next request.', 'RFC 9110 section 10.2.3'),
  'www-authenticate': header(
    'Why the API refuses the token. It may name the missing scope.',
    'RFC 6750 section 3',
  ),
  [platform.paging.totalHeader]: header('The total number of entries of a list.', 'Assumption “lists”'),
  response_mode: SETTING,
  audience: SETTING,
  resource: SETTING,
  prompt: SETTING,
  [platform.paging.top]: PAGING,
  [platform.paging.skip]: PAGING,
  [platform.paging.orderBy]: PAGING,
  [platform.paging.filter]: PAGING,
  [platform.paging.count]: PAGING,
}

const UNKNOWN: Explanation = {
  what: 'A parameter that this app does not know. Its value is masked, in case it is a secret.',
  rule: 'The sender of this message makes it, and this app does not check it.',
  reference: 'RFC 6749 sections 3.1 and 4.1.2: unknown parameters are ignored',
}

/** The explanation of a parameter or header. */
export const explain = (name: string): Explanation =>
  (Object.hasOwn(TEXTS, name) ? TEXTS[name] : undefined) ?? UNKNOWN
