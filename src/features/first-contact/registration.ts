import { scopes as scopeList, serverSettings } from '../../config.ts'
import { redirectUrls } from '../../connect/index.ts'
import { type Environment, readSettings, settingsGroup } from '../../settings/read.ts'
import { texts } from '../../web/texts.ts'
import { loadContracts } from '../contracts.ts'
import { featureOptions, loadFeatures } from '../load.ts'
import type { Contract } from '../tools.ts'
import { type FirstContactSettings, firstContactSettings } from './settings.ts'

export interface RegistrationOptions extends FirstContactSettings {
  baseUrl: string
  scopes: readonly string[]
  contracts: readonly Contract[]
}

/** What they must send back, each with the setting that takes it. */
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

const IMPORTANCE = [
  'Nothing works if these are wrong',
  'Something does not work',
  'Something is missing or less convenient',
]

const listOf = (items: readonly string[]) => items.map((item) => `- ${item}\n`).join('')

/** What platform support needs in order to register this app, and what to ask them, as Markdown. */
export function toSheet(options: RegistrationOptions): string {
  const { appName, logoUrl, baseUrl, stagingUrl, productionUrl, scopes, contracts } = options
  const application = [
    `Application name, as shown on the consent page: ${appName}`,
    appName === texts.layout.appName && 'Check: Set APP_NAME to the name of your app.',
    `Logo: ${logoUrl ?? 'none'}`,
  ].filter((item) => item !== false)
  const environments = [
    environmentOf('Development', 'BASE_URL', baseUrl),
    environmentOf('Staging', 'APP_STAGING_URL', stagingUrl),
    environmentOf('Production', 'APP_PRODUCTION_URL', productionUrl),
  ]
  const reasonsFor = (scope: string) =>
    contracts.flatMap((contract) => contract.scopes[scope] ?? []).join('; ') ||
    'no feature of this app uses it'
  const questions = contracts.flatMap(({ assumptions }) => assumptions)
  const sections = IMPORTANCE.map((title, index) => {
    const asked = questions.filter(({ importance }) => importance === index + 1)
    return `### ${title}\n\n${asked.map(({ topic, assumed, id }, place) => `${place + 1}. ${topic}. We assume: ${assumed} (\`${id}\`)\n`).join('')}`
  })
  return `# Registration of ${appName}

Delegated OAuth access for a third-party integration (specification 5.3).

${listOf(application)}
## Redirect URLs

The first of each pair receives the bxcontext, the second the code. Neither has a query string.

${environments.join('\n')}
## Scopes

${listOf(scopes.map((name) => `\`${name}\`: ${reasonsFor(name)}`))}
## Please send us

${listOf(ANSWERS)}
## Please confirm or correct

The specification does not show these. The most important ones come first.

${sections.join('\n')}`
}

/** Both urls of an environment, as the app sends them if this address is its `BASE_URL`. */
function environmentOf(name: string, setting: string, address: string | undefined): string {
  const urls = address ? redirectUrls(address).map((url) => `\`${url}\``) : []
  const warnings = [
    !address && `Check: Set ${setting} to the address of the app.`,
    address?.startsWith('http:') &&
      'Check: The address is http. Platforms accept https only, some of them http for localhost as well.',
  ].filter((warning) => typeof warning === 'string')
  return `### ${name}\n\n${listOf([...urls, ...warnings])}`
}

const scopeSettings = settingsGroup({
  variables: () => ({ PLATFORM_SCOPES: scopeList() }),
  build: (values) => values.PLATFORM_SCOPES,
})

/** The sheet by these settings; credentials are not needed. Throws `ConfigError`. */
export async function registrationOf(env: Environment): Promise<string> {
  const groups = { server: serverSettings, own: firstContactSettings, scopes: scopeSettings }
  const { server, own, scopes } = readSettings(env, groups)
  const { scopes: needed } = featureOptions(await loadFeatures())
  const contracts = await loadContracts()
  return toSheet({ ...own, baseUrl: server.baseUrl, scopes: scopes ?? needed, contracts })
}
