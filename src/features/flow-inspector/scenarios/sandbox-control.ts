import * as z from 'zod'
import { type Browser, JSON_TYPE } from './browser.ts'

const stateSchema = z.object({
  calls: z.array(z.object({ at: z.string(), endpoint: z.string(), bxcontext: z.string().optional() })),
})

/** What a scenario does to the sandbox, over HTTP, for its own businesses. */
export function createSandboxControl(browser: Browser, sandboxUrl: string, businesses: readonly string[]) {
  const post = (path: string, form: Record<string, string> = {}) =>
    browser.post(`${sandboxUrl}/sandbox/${path}`, form, JSON_TYPE)
  return {
    /** Sets a fault; ignored if the sandbox has no such endpoint. */
    fault: (endpoint: string, fault: string, times: number, retryAfter = 1) =>
      post('faults', { endpoint, fault, times: String(times), retryAfter: String(retryAfter) }),
    clearFaults: () => post('faults/clear'),
    /** Expires the access tokens of a business. */
    expire: (bxcontext: string) => post('expire', { bxcontext }),

    /** Presses every “Revoke” under Connected apps. */
    async revoke(): Promise<void> {
      const { text } = await browser.get(`${sandboxUrl}/connected-apps`)
      const paths = [...text.matchAll(/action="(\/connected-apps\/[^"]+\/revoke)"/g)].map(([, path]) => path)
      for (const path of paths) await browser.post(sandboxUrl + path)
    },

    /** How many requests the token endpoint received since a time (ms since 1970). */
    async tokenRequests(endpoint: 'exchange' | 'refresh', since: number): Promise<number> {
      const { text } = await browser.get(`${sandboxUrl}/sandbox/faults`, JSON_TYPE)
      const isCounted = (call: z.infer<typeof stateSchema>['calls'][number]) =>
        call.endpoint === endpoint &&
        Date.parse(call.at) >= since &&
        call.bxcontext !== undefined &&
        businesses.includes(call.bxcontext)
      return stateSchema.parse(JSON.parse(text)).calls.filter(isCounted).length
    },
  }
}
