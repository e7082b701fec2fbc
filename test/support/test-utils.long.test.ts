import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { probe } from './probe.ts'
import { connected, JSON_TYPE, moveClock, type Running, startApp } from './test-utils.ts'

let app: Running
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.close())

/** Calls the platform for a user: a feature that only tests have. */
const call = async (visitor: Awaited<ReturnType<typeof connected>>) =>
  (await visitor.get(`${app.url}/connections/harbour-homes/${probe.name}`, JSON_TYPE)).json()

describe('the test utilities', () => {
  test('a scripted answer is given once, and in order; then the sandbox answers', async () => {
    const visitor = await connected(app)
    app.answer(`/api/${probe.name}`, { json: [{ id: 'one' }] })
    app.answer(`/api/${probe.name}`, { status: 403, text: 'no', headers: { 'content-type': 'text/plain' } })
    expect(await call(visitor)).toMatchObject({ items: [{ id: 'one' }] })
    expect(await call(visitor)).toMatchObject({ status: 403 })
    expect((await call(visitor)).items.length).toBeGreaterThan(1)
  })

  test('a clock that is moved lets the access token expire, and the app refreshes it', async () => {
    const visitor = await connected(app, { name: 'clock' })
    const refreshes = async () => (await app.calls()).filter(({ endpoint }) => endpoint === 'refresh').length
    expect(await refreshes()).toBe(0)
    moveClock(3_700)
    expect((await call(visitor)).items.length).toBeGreaterThan(1)
    expect(await refreshes()).toBe(1)
  })

  test.each([
    ['a text', (html: string) => expect(html).toContain('no such text')],
    ['a pattern', (html: string) => expect(html).toMatch(/no such text/)],
    ['a list with the page', (html: string) => expect([html]).toEqual([])],
  ])(
    'an assertion about %s that fails shows what a person reads on a page, not its HTML',
    async (_what, assertion) => {
      const { text } = await (await connected(app, { name: 'reader' })).get(`${app.url}/connections`)
      try {
        assertion(text)
        expect.unreachable()
      } catch (error) {
        const shown = JSON.stringify(error)
        expect(shown).toContain('Harbour Homes')
        expect(shown).not.toContain('<main')
        expect(shown.length).toBeLessThan(2_000)
      }
    },
  )

  test('the clock is right again in the next test', () => {
    expect(Math.abs(Date.now() - (performance.timeOrigin + performance.now()))).toBeLessThan(60_000)
  })
})
