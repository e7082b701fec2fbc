import { randomBytes } from 'node:crypto'
import { PlatformUnavailableError } from '../../connect/errors.ts'
import { createHttp, type Http, type HttpOptions, platform } from '../../connect/index.ts'
import { type Answer, isResponse, type NoAnswer, toResponse } from './answers.ts'

/** A value that the platform cannot know: a code, a token or a client id. */
export const madeUp = () => `doctor-check-${randomBytes(16).toString('hex')}`

const TIMEOUT_MS = 5_000
/** Some servers refuse clients that do not look like a browser. */
const USER_AGENT = 'Mozilla/5.0 (compatible; connect-starter doctor)'

export type Client = ReturnType<typeof createClient>

/**
 * Creates the client that sends every request of the doctor. It uses the app's own HTTP code, with the same proxies and internal
 * addresses, and records only the difference between the clocks. `timeoutMs`: how long an answer may take. A POST gets the timeout
 * of the token endpoint instead.
 */
export function createClient(
  { proxies = null, internalUrls = {} }: Pick<HttpOptions, 'proxies' | 'internalUrls'>,
  timeoutMs = TIMEOUT_MS,
) {
  const slowest = platform.tokenEndpointMs
  const options = { proxies, internalUrls, userAgent: USER_AGENT }
  const pool = createHttp({ ...options, stepTimeoutMs: slowest, deadlineMs: slowest })
  const http: Http = {
    send: (request) => pool.send({ ...request, deadlineMs: request.method === 'POST' ? slowest : timeoutMs }),
    close: pool.close,
  }
  /** How far this machine's clock is ahead of the `Date` header of each response of the platform, in ms. */
  const clockOffsets: number[] = []

  /** Runs code of the app with this client. Resolves to the answer to its last request, even if the code fails. Never throws. */
  async function answerTo(code: (http: Http) => Promise<unknown> | undefined): Promise<Answer> {
    let answer: Answer = { error: 'no request' }
    const recording: Http = {
      async send(request) {
        try {
          const response = await http.send(request)
          answer = toResponse(request, response)
          return response
        } catch (error) {
          answer = toNoAnswer(error)
          throw error
        }
      },
      close: async () => {},
    }
    await code(recording)?.catch(() => {})
    const offset = isResponse(answer) ? Date.now() - Date.parse(answer.header('date') ?? '') : Number.NaN
    if (!Number.isNaN(offset)) clockOffsets.push(offset)
    return answer
  }

  const get = (url: string, headers: Record<string, string> = {}) =>
    answerTo((recording) => recording.send({ method: 'GET', url, headers }))
  /** Opens a page as a browser that is not logged in does. Does not follow redirects. */
  const open = ({ href }: URL) => get(href, { accept: 'text/html,*/*;q=0.8', 'accept-language': 'en' })
  return { answerTo, get, open, http, clockOffsets, close: pool.close }
}

function toNoAnswer(error: unknown): NoAnswer {
  if (!(error instanceof PlatformUnavailableError)) return { error: String(error) }
  const { reason = '' } = error
  const [, code = reason] = /\((\w+)\)$/.exec(reason) ?? []
  return { error: reason.includes('deadline') ? 'TIMEOUT' : code }
}
