import type { HttpRequest } from '../connect/platform/http.ts'
import { createOAuth, type OAuth } from '../connect/platform/oauth.ts'
import type { Request } from './http.ts'
import type { Platform } from './platform.ts'

/** The request that the app's own code makes of this call, recorded instead of sent. */
export async function recordedRequest(
  platform: Platform,
  call: (oauth: OAuth) => Promise<unknown> | undefined,
): Promise<Request> {
  let sent: Request = {}
  const recorder = {
    send: async ({ headers = {}, body }: HttpRequest) => {
      sent = { method: 'POST', headers, body: String(body) }
      throw new Error('recorded instead of sent')
    },
    close: async () => {},
  }
  await call(createOAuth({ ...platform, http: recorder }))?.catch(() => {})
  return sent
}
