import type { Feature } from '../feature.ts'
import { createFirstPartyAccess, firstPartyRecords } from './access.ts'
import { describeError } from './describe-error.ts'
import { createFirstParty } from './first-party.ts'
import { type FirstPartySettings, firstPartySettings } from './settings.ts'

/** Access to the platform's API by API key, for unattended jobs (specification 5.2). */
export const firstParty: Feature<FirstPartySettings> = {
  name: 'first-party',
  settings: firstPartySettings,
  create: ({ store, encryptionKeys }) => ({
    reencrypt: () => firstPartyRecords(store, encryptionKeys).reencrypt(),
  }),
  async check({ store, encryptionKeys, http, platform, log }, credentials) {
    if (!credentials) return []
    const api = createFirstParty({ ...credentials, baseUrl: platform.apiUrl, http: http.tokens })
    const access = createFirstPartyAccess({ store, keys: encryptionKeys, firstParty: api, credentials, log })
    return access.accessToken().then(
      () => [{ ok: true, text: `first-party access: logged in as ${credentials.email}` }],
      (error: unknown) => [{ ok: false, text: `first-party access: ${describeError(error)}` }],
    )
  },
}
