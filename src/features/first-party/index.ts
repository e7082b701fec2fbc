import { createRecordCipher } from '../../connect/vault/encryption.ts'
import { reencrypt } from '../../connect/vault/reencrypt.ts'
import type { Feature } from '../feature.ts'
import { FIRST_PARTY } from './access.ts'
import { checkFirstParty } from './check.ts'
import { probeFirstParty } from './probe.ts'
import { type FirstPartySettings, firstPartySettings } from './settings.ts'

/** Access to the platform's API by API key, for unattended jobs (specification 5.2). */
export const firstParty: Feature<FirstPartySettings> = {
  name: 'first-party',
  settings: firstPartySettings,
  create: ({ store, encryptionKeys }) => ({
    reencrypt: (onProgress) => reencrypt(store, createRecordCipher(encryptionKeys), FIRST_PARTY, onProgress),
  }),
  check: async (context, credentials) => (credentials ? checkFirstParty(context, credentials) : []),
  probe: probeFirstParty,
}
