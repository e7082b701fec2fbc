/** Descriptions of faults in plain words. The control page shows the technical name next to them. */

const SUBJECTS: Record<string, string> = {
  consent: 'the consent page',
  exchange: 'the sign-in',
  refresh: 'the renewal of access',
}

/** The purpose of an endpoint, in plain words. */
export const subjectOf = (endpoint: string): string => SUBJECTS[endpoint] ?? `calls of “${endpoint}”`

const SEEN: Record<string, (subject: string) => string> = {
  '500': (it) => `The platform fails at ${it}`,
  '429': (it) => `The platform is too busy for ${it}, and asks the app to wait`,
  stall: (it) => `The platform never responds to ${it}`,
  garbage: (it) => `The platform shows a maintenance page instead of ${it}`,
  drop: (it) => `The connection breaks off during ${it}`,
  slow: (it) => `The platform takes 6 seconds for ${it}`,
  short_lived: (it) => `Access lasts only one second after ${it}`,
  invalid_grant: (it) => `The platform refuses ${it}`,
  invalid_client: (it) => `The platform does not recognise this app at ${it}`,
  deny: () => 'The platform reports that the user denied access',
  server_error: (it) => `The platform fails at ${it}`,
  missing_scope: () => 'The user leaves out one of the permissions that the app asks for',
  expired: (it) => `The platform reports that access has expired at ${it}`,
  forbidden: (it) => `The platform reports that a permission is missing for ${it}`,
  failed: (it) => `The platform cannot process ${it}`,
}

/** Describes this fault in plain words. */
export const seenOf = (endpoint: string, fault: string): string =>
  SEEN[fault]?.(subjectOf(endpoint)) ?? `The platform has the fault “${fault}” at ${subjectOf(endpoint)}`
