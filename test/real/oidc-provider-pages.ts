import { vi } from 'vitest'
import type { Answer, Visitor } from '../support/visitor.ts'

/** Goes through the pages that oidc-provider has for development, until they lead to a url that starts with `stopAt`. */
export async function passPages(
  visitor: Visitor,
  start: Answer,
  { login = 'olivia', stopAt }: { login?: string; stopAt: string },
): Promise<Answer> {
  let page = await visitor.follow(start, stopAt)
  // A login, a consent, or both.
  for (let pages = 0; pages < 3 && !page.url.startsWith(stopAt); pages++) {
    const action = /action="([^"]+)"/.exec(page.text)?.[1]
    if (action === undefined) throw new Error(`${page.url} has no form: ${page.status} ${page.text}`)
    const prompt = /name="prompt" value="(\w+)"/.exec(page.text)?.[1] ?? ''
    const form = { prompt, ...(prompt === 'login' && { login, password: 'x' }) }
    page = await visitor.follow(await visitor.post(new URL(action, page.url).href, { form }), stopAt)
  }
  return page
}

/** Hides what oidc-provider prints: advice for production. */
export function hideAdvice(): void {
  for (const method of ['info', 'warn'] as const) vi.spyOn(console, method).mockImplementation(() => {})
}
