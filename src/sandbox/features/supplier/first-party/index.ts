import { HTTP_FAULTS } from '../../../faults.ts'
import type { SandboxFeature } from '../../../feature.ts'
import { section } from '../../../sections.ts'
import { ACCOUNT_SETUP } from '../business-setup/index.ts'
import { API_KEY, checkSubscription, firstPartyApi, SUBSCRIPTION_KEY } from './api.ts'
import { createFirstPartyTokens } from './tokens.ts'

/** First-party access: login by API key, for unattended jobs. */
export default {
  faults: { login: HTTP_FAULTS },
  create(core) {
    const tokens = createFirstPartyTokens(core.accessTokenSeconds)
    const keys = { apiKey: API_KEY, subscriptionKey: SUBSCRIPTION_KEY }
    return {
      api: firstPartyApi(core, tokens),
      sections: [
        section(ACCOUNT_SETUP, 'supplier/first-party/api-keys', ({ email }) => ({ email, ...keys })),
      ],
      actions: {
        'expire-refresh-tokens': {
          label: 'Let API logins run out',
          technical: 'expire first-party refresh tokens',
          run() {
            const expired = tokens.expire('refresh')
            const message = `Expired ${expired} refresh tokens of first-party access. A job logs in again by API key when its access token expires.`
            return { expired, message }
          },
        },
      },
      authenticate(token) {
        const access = tokens.find('access', token)
        if (!access) return undefined
        const { account, bxcontext } = access
        return { bxcontext, credential: `${account} ${bxcontext}`, scopes: null, check: checkSubscription }
      },
      expireAccessTokens: () => tokens.expire('access'),
      reset: tokens.reset,
    }
  },
} satisfies SandboxFeature
