import { expect, test } from 'vitest'
import { sharedApp } from '../../support/app.ts'
import { newUser, signedIn } from '../../support/flow.ts'
import { leadsTo } from '../../support/visitor.ts'

const app = await sharedApp()

test('a form leads to the platform by a page that continues automatically and has a link, and a program gets the address', async () => {
  const visitor = await signedIn(app, newUser())
  const page = await visitor.post(`${app.url}/connect`)
  const start = `${app.platform}/oauth2.html?redirectUrl=${encodeURIComponent(`${app.url}/connect/context`)}`
  expect([page.status, leadsTo(page)]).toEqual([200, start])
  expect(page.text).toContain(`href="${start}"`)
  expect(page.headers.get('cache-control')).toBe('no-store')
  const answer = await visitor.post(`${app.url}/connect`, { accept: 'application/json' })
  expect([answer.status, answer.json()]).toEqual([200, { location: start }])
})
