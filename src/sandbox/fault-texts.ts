/** What a person sees of a fault; the control page has its technical name beside it. */

const SUBJECTS: Record<string, string> = {
  consent: 'the consent page',
  exchange: 'the sign-in',
  refresh: 'the renewal of access',
}

/** What an endpoint is for. */
export const subjectOf = (endpoint: string): string => SUBJECTS[endpoint] ?? `calls of “${endpoint}”`

const SEEN: Record<string, (subject: string) => string> = {
  '500': (it) => `The platform fails at ${it}`,
  '429': (it) => `The platform is too busy for ${it}, and asks the app to wait`,
  stall: (it) => `The platform leaves ${it} without an answer`,
  garbage: (it) => `The platform shows a maintenance page instead of ${it}`,
  drop: (it) => `The connection breaks off during ${it}`,
  slow: (it) => `The platform takes 6 seconds for ${it}`,
  short_lived: (it) => `Access lasts only one second after ${it}`,
  invalid_grant: (it) => `The platform refuses ${it}`,
  invalid_client: (it) => `The platform does not know this app at ${it}`,
  deny: () => 'The platform says that the user denied access',
  server_error: (it) => `The platform fails at ${it}`,
  missing_scope: () => 'The user grants one permission fewer than the app asks for',
  expired: (it) => `The platform says that access has run out at ${it}`,
  forbidden: (it) => `The platform says that a permission is missing for ${it}`,
  failed: (it) => `The platform cannot process ${it}`,
}

/** What a person sees of this fault. */
export const seenOf = (endpoint: string, fault: string): string =>
  SEEN[fault]?.(subjectOf(endpoint)) ?? `The platform has the fault “${fault}” at ${subjectOf(endpoint)}`
