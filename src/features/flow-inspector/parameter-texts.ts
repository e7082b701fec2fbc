/** What the pages say about each parameter. */

export interface Explanation {
  /** What it is. */
  what: string
  /** Who made it. */
  madeBy: string
  /** What it must equal. */
  mustEqual: string
  checkedBy: string
  /** What an attacker could do if nobody checked it. */
  attack: string
  /** The section of the RFC or the specification. */
  reference: string
}

const NOTHING = 'Nothing in particular.'

const TEXTS: Record<string, Explanation> = {
  redirectUrl: {
    what: 'Where the platform sends the browser after the user has chosen a business.',
    madeBy: 'This app, from BASE_URL.',
    mustEqual: 'One of the redirect URLs that are registered for this app, exactly, without a query.',
    checkedBy: 'The platform, before it shows the start page.',
    attack: 'Send the user’s bxcontext to a site of the attacker, or use the platform as an open redirect.',
    reference: 'Specification 5.3.2; RFC 9700 section 4.1',
  },
  bxcontext: {
    what: 'The business that the user chose. It is not a secret.',
    madeBy: 'The platform, when the user chooses.',
    mustEqual: 'The same value in the consent request, the code exchange, and every refresh.',
    checkedBy:
      'This app accepts it only for a connect flow that this browser session started. The platform checks that the tokens belong to it.',
    attack: 'Plant another business in the user’s browser, so that the user works in the attacker’s account.',
    reference: 'Specification 5.3.4 and 5.3.6',
  },
  response_type: {
    what: 'The kind of answer: an authorization code.',
    madeBy: 'This app.',
    mustEqual: 'code',
    checkedBy: 'The platform.',
    attack: 'Other kinds put tokens into the address bar, where history and logs keep them.',
    reference: 'RFC 6749 section 4.1.1; RFC 9700 section 2.1.2',
  },
  client_id: {
    what: 'Which app is asking. It is not a secret.',
    madeBy: 'The platform’s support team, when the app was registered.',
    mustEqual: 'The id of a registered app; the same in every request.',
    checkedBy: 'The platform, which shows the app’s name on the consent page.',
    attack: 'With a foreign id, an attacker could borrow the name of a trusted app.',
    reference: 'RFC 6749 section 2.2',
  },
  client_secret: {
    what: 'The password of this app at the token endpoint. It never passes through the browser.',
    madeBy: 'The platform’s support team, when the app was registered.',
    mustEqual: 'The secret of this client id.',
    checkedBy: 'The platform, at every token request.',
    attack: 'Whoever has it can exchange stolen codes and use stolen refresh tokens.',
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
    mustEqual: 'The answer may hold fewer than were asked for. An answer without it leaves them unknown.',
    checkedBy: 'The API, at every call. This app compares both and offers to ask again.',
    attack: 'Without scopes, every app could do everything that its user can do.',
    reference: 'RFC 6749 section 3.3',
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
    attack: 'Without it, a stolen code can be exchanged, or injected into the flow of somebody else.',
    reference: 'RFC 7636 section 4.2; RFC 9700 section 4.5',
  },
  code_challenge_method: {
    what: 'How the challenge was made.',
    madeBy: 'This app.',
    mustEqual: 'S256. With “plain”, the challenge would be the verifier itself.',
    checkedBy: 'The platform.',
    attack: 'Downgrade the protection, so that whoever sees the consent URL knows the verifier.',
    reference: 'RFC 7636 section 4.3; RFC 9700 section 4.8',
  },
  code_verifier: {
    what: 'The secret behind the code challenge.',
    madeBy: 'This app, new for each flow. It leaves the app only here.',
    mustEqual: 'Its SHA-256 digest is the code_challenge of the consent request.',
    checkedBy: 'The platform, at the token endpoint.',
    attack: 'Without it, a stolen code is useless to an attacker.',
    reference: 'RFC 7636 section 4.5',
  },
  code: {
    what: 'The authorization code: proof that the user gave consent. It is valid for a short time and once.',
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
    attack: 'Anyone can open the callback with any error. Without the right state, it changes nothing.',
    reference: 'RFC 6749 sections 4.1.2.1 and 5.2',
  },
  error_description: {
    what: 'A sentence about the error, for developers.',
    madeBy: 'The platform.',
    mustEqual: NOTHING,
    checkedBy: 'Nobody. This app never shows it to users.',
    attack: 'Put misleading text on a page of this app, if the app showed it.',
    reference: 'RFC 6749 section 5.2',
  },
  grant_type: {
    what: 'What is exchanged for tokens: a code, or a refresh token.',
    madeBy: 'This app.',
    mustEqual: 'authorization_code or refresh_token.',
    checkedBy: 'The platform.',
    attack: NOTHING,
    reference: 'RFC 6749 sections 4.1.3 and 6',
  },
  access_token: {
    what: 'The key to the API for one business and the granted permissions. It is valid for minutes.',
    madeBy: 'The platform. Every refresh makes a new one: the fingerprint changes.',
    mustEqual: 'The token that the API receives is the one that the platform issued last.',
    checkedBy: 'The API, at every call.',
    attack: 'Whoever has it can call the API until it expires.',
    reference: 'RFC 6749 section 1.4; RFC 6750 section 5',
  },
  authorization: {
    what: 'The access token, sent to the API as a bearer token.',
    madeBy: 'The platform issued it; this app sends it.',
    mustEqual: 'The access token of the latest token response. Compare the fingerprints.',
    checkedBy: 'The API, at every call. This app sends it only to the configured API address.',
    attack: 'Whoever has it can call the API until it expires.',
    reference: 'RFC 6750 section 2.1',
  },
  refresh_token: {
    what: 'The key to new access tokens. It lives until the user revokes access.',
    madeBy: 'The platform, at the first exchange.',
    mustEqual:
      'The one that is sent is the one that was received last. If the answer has another one, the platform rotates refresh tokens.',
    checkedBy: 'The platform, together with the client secret and the bxcontext.',
    attack: 'Whoever has it and the client secret has lasting access. This app stores it encrypted.',
    reference: 'RFC 6749 section 6; RFC 9700 section 4.14; specification 5.3.6',
  },
  expires_in: {
    what: 'How long the access token is valid, in seconds.',
    madeBy: 'The platform.',
    mustEqual: 'A number. Without it, this app assumes five minutes.',
    checkedBy: 'This app refreshes before it is over. The platform decides when it really is.',
    attack: NOTHING,
    reference: 'RFC 6749 section 5.1',
  },
  token_type: {
    what: 'How the access token is sent.',
    madeBy: 'The platform.',
    mustEqual: 'Bearer.',
    checkedBy: 'This app.',
    attack: NOTHING,
    reference: 'RFC 6750 section 4',
  },
  business_name: named('The name of the business, for people.'),
  user_name: named('The name of the person who gave consent.'),
  password: {
    what: 'The user’s password on the platform. It goes to the platform’s own page and never to this app.',
    madeBy: 'The user.',
    mustEqual: 'The password of the account.',
    checkedBy: 'The platform.',
    attack: 'Take over the account. This is why apps must not ask for it.',
    reference: 'RFC 9700 section 2.4',
  },
  email: {
    what: 'The user’s login on the platform. It goes to the platform’s own page and never to this app.',
    madeBy: 'The user.',
    mustEqual: 'The login of the account.',
    checkedBy: 'The platform.',
    attack: NOTHING,
    reference: 'Specification 5.3.2',
  },
  answer: {
    what: 'The button that the user pressed on the consent page.',
    madeBy: 'The user.',
    mustEqual: 'accept or deny.',
    checkedBy: 'The platform, which asks only users who are logged in.',
    attack: 'Trick the user into pressing it inside an invisible frame (clickjacking).',
    reference: 'RFC 9700 section 4.16',
  },
  $top: paging('How many entries a page has.'),
  $skip: paging('How many entries to skip.'),
  $orderby: paging('The order of the entries.'),
  $count: paging('Asks for the total number of entries, in a header.'),
}

function paging(what: string): Explanation {
  return {
    what,
    madeBy: 'This app.',
    mustEqual: NOTHING,
    checkedBy: 'The API.',
    attack: NOTHING,
    reference: 'Assumption “lists”; OData 4.01, system query options',
  }
}

function named(what: string): Explanation {
  return {
    what,
    madeBy: 'The platform, if it names it.',
    mustEqual: NOTHING,
    checkedBy: 'Nobody. This app only shows it.',
    attack: NOTHING,
    reference: 'Assumption “names”',
  }
}

const UNKNOWN: Explanation = {
  what: 'A parameter that this app does not know. Its value is masked, in case it is a secret.',
  madeBy: 'The sender of this message.',
  mustEqual: NOTHING,
  checkedBy: 'Not this app.',
  attack: NOTHING,
  reference: 'RFC 6749 section 3.1: unknown parameters are ignored',
}

/** What the pages say about a parameter or header. */
export const explain = (name: string): Explanation => TEXTS[name] ?? UNKNOWN

/** The names of all parameters that have a text of their own. */
export const EXPLAINED = Object.keys(TEXTS)
