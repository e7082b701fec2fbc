import { createOAuth, type HttpRequest, type OAuth } from '../../../connect/index.ts'
import type { Request } from './http.ts'
import type { Target } from './target.ts'

/** The request that the app's own code makes of this call, recorded instead of sent. */
export async function recordedRequest(
  target: Target,
  call: (oauth: OAuth) => Promise<unknown> | undefined,
): Promise<Request & { url: string }> {
  let sent: Request & { url: string } = { url: '' }
  const recorder = {
    send: async ({ url, headers = {}, body }: HttpRequest) => {
      sent = { url, method: 'POST', headers, body: String(body) }
      throw new Error('recorded instead of sent')
    },
    close: async () => {},
  }
  await call(createOAuth({ ...target, http: recorder }))?.catch(() => {})
  return sent
}
