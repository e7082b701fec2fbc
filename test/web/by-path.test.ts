import express, { Router } from 'express'
import supertest from 'supertest'
import { describe, expect, test } from 'vitest'
import { byPath } from '../../src/web/by-path.ts'

/** A router that answers with the path of its route. */
function answering(...paths: string[]): Router {
  const router = Router()
  for (const path of paths) router.get(path, (_req, res) => void res.send(path))
  return router
}

const answerOf = async (routers: Router[], url: string) =>
  (await supertest(express().use(byPath(routers))).get(url)).text

describe('a request', () => {
  const routers = [
    answering('/', '/connections'),
    answering('/connections/:bxcontext/leads', '/connections/:bxcontext/leads/:id'),
    Router().use(answering('/flows', '/flows/:id')),
  ]

  test.each([
    ['/', '/'],
    ['/connections', '/connections'],
    ['/connections/a%2Fb/leads', '/connections/:bxcontext/leads'],
    ['/connections/a/leads/1', '/connections/:bxcontext/leads/:id'],
    ['/Connections/a/Leads/', '/connections/:bxcontext/leads'],
    ['/flows/1', '/flows/:id'],
  ])('to %s is answered by the route %s', async (url, path) => {
    expect(await answerOf(routers, url)).toBe(path)
  })

  test('meets no router without a route like its path', async () => {
    const leads = answering('/connections/:bxcontext/leads')
    const matching = Object.assign(
      Router().get('/connections/:bxcontext/orders', () => {}),
      {
        handle: () => expect.unreachable(),
      },
    )
    expect(await answerOf([matching, leads], '/connections/a/leads')).toBe('/connections/:bxcontext/leads')
  })
})

test.each([
  ['middleware', Router().use((_req, res) => void res.send('found'))],
  [
    'a prefix',
    Router().use(
      '/reports',
      Router().get('/1', (_req, res) => void res.send('found')),
    ),
  ],
  ['a parameter in place of a name', Router().get('/:name/:id', (_req, res) => void res.send('found'))],
  ['a pattern', Router().get(/^\/rep/, (_req, res) => void res.send('found'))],
])('a router with %s meets every request', async (_what, router) => {
  expect(await answerOf([answering('/connections'), router], '/reports/1')).toBe('found')
})
