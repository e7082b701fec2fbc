import { redirectUrls } from '../../connect/index.ts'
import { type Config, webTexts as texts } from '../../web/feature-api.ts'
import type { Contract } from '../contracts.ts'

export interface RegistrationOptions {
  /** The address of the app. */
  baseUrl: string
  scopes: readonly string[]
  contracts: readonly Contract[]
}

/** The values that platform support must send back, each with its setting. */
const ANSWERS = [
  'The client id (`PLATFORM_CLIENT_ID`)',
  'The client secret, over a channel that is safe for secrets (`PLATFORM_CLIENT_SECRET`)',
  'The address of the web application, where oauth2.html is (`PLATFORM_APP_URL`)',
  'The address of the identity provider, where /oauth/token is (`PLATFORM_AUTH_URL`)',
  'The address of the API, where /catalogues is (`PLATFORM_API_URL`)',
  'The path of the consent page (`PLATFORM_AUTHORIZE_PATH`)',
  'Further parameters of the consent url, such as an audience (`PLATFORM_AUTHORIZE_PARAMS`)',
  'How token requests carry the client id and the secret: client_secret_post or client_secret_basic (`PLATFORM_TOKEN_ENDPOINT_AUTH_METHOD`)',
  'The names of the scopes, if they are not those above (`PLATFORM_SCOPES`)',
  'A staging account to test with',
]

const listOf = (items: readonly string[]) => items.map((item) => `- ${item}\n`).join('')

/** Writes the registration request for platform support, with questions for them, as Markdown. */
export function toSheet({ baseUrl, scopes, contracts }: RegistrationOptions): string {
  const { appName } = texts.layout
  const reasonsFor = (scope: string) =>
    contracts.flatMap((contract) => contract.scopes[scope] ?? []).join('; ') ||
    'no feature of this app uses it'
  const questions = contracts
    .flatMap(({ assumptions }) => assumptions)
    .toSorted((one, other) => one.importance - other.importance)
    .map(({ topic, assumed, id }, place) => `${place + 1}. ${topic}. We assume: ${assumed} (\`${id}\`)\n`)
  return `# Registration of ${appName}

Delegated OAuth access for a third-party integration (specification 5.3).

- Application name, as shown on the consent page: ${appName}
- Logo: (enter its address)

## Redirect URLs

The first of each pair receives the bxcontext, the second the code. Neither has a query string.

${listOf(redirectUrls(baseUrl).map((url) => `Development: \`${url}\``))}
${listOf(redirectUrls('').map((path) => `Staging and production: (enter its address)\`${path}\``))}
## Scopes

${listOf(scopes.map((name) => `\`${name}\`: ${reasonsFor(name)}`))}
## Please send us

${listOf(ANSWERS)}
## Please confirm or correct

The specification does not answer these questions. The most important ones come first.

${questions.join('')}`
}

/** Whether the platform is the sandbox. */
export const isSandbox = ({ sandboxUrl, apiUrl }: Config['platform']) =>
  sandboxUrl !== undefined && new URL(sandboxUrl).origin === new URL(apiUrl).origin
