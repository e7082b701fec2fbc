/**
 * `npm run feature -- first-contact registration`: prints what platform support needs in order to register this app. Needs no
 * credentials.
 */
import '../../runtime/env-file.ts'
import { parseArgs } from 'node:util'
import { scopes, serverSettings } from '../../config.ts'
import { print } from '../../runtime/print.ts'
import { fail } from '../../runtime/serve.ts'
import { readSettings, settingsGroup } from '../../settings/read.ts'
import { loadContracts } from '../contracts.ts'
import { featureOptions, loadFeatures } from '../load.ts'
import { registrationOf } from './registration.ts'
import { toMarkdown, toText } from './registration-text.ts'
import { setupSettings } from './settings.ts'

const HELP = `Usage: npm run feature -- first-contact registration [--markdown]

Prints what the platform's support team needs in order to register this app, and the questions to ask them. The page
/registration of the running app has the same, to print.`

const scopeSettings = settingsGroup({
  variables: () => ({ PLATFORM_SCOPES: scopes() }),
  build: (values) => values.PLATFORM_SCOPES,
})

try {
  const { values } = parseArgs({ options: { markdown: { type: 'boolean' }, help: { type: 'boolean' } } })
  if (values.help) print(...HELP.split('\n'))
  else {
    const groups = { server: serverSettings, setup: setupSettings, scopes: scopeSettings }
    const settings = readSettings(process.env, groups)
    const contracts = await loadContracts()
    const registration = registrationOf({
      ...settings.setup,
      baseUrl: settings.server.baseUrl,
      scopes: settings.scopes ?? featureOptions(await loadFeatures()).scopes,
      contracts,
    })
    print(...(values.markdown ? toMarkdown(registration) : toText(registration)).split('\n'))
  }
} catch (error) {
  fail(error)
}
