import express, { type Request, Router } from 'express'
import { problemsOf } from './api.ts'
import { seenOf, subjectOf } from './fault-texts.ts'
import type { FaultSetting } from './faults.ts'
import type { Action, SandboxState } from './feature.ts'
import { isCustomerView, leaveNotice, page, problem } from './pages.ts'

const HIDDEN = 'This page is for developers. The link to show such pages is at the foot of the app.'
const wantsJson = (req: Request) => Boolean(req.is('json')) || req.accepts(['html', 'json']) === 'json'

/** The control page and its JSON API, for faults of the next calls, quick actions (by path below /sandbox) and the latest calls. */
export function controlRoutes({ faults, journal }: SandboxState, own: Record<string, Action>): Router {
  const state = () => ({ faults: faults.list(), calls: journal.list() })
  const clear = () => {
    faults.clear()
    return { ...state(), message: 'Cleared all faults. The platform works normally again.' }
  }
  const actions: Record<string, Action> = {
    ...own,
    'faults/clear': { label: 'Let everything work again', technical: 'clear all faults', run: clear },
  }

  const router = Router()
    .use('/sandbox', express.json({ limit: '10kb' }))
    .get(['/sandbox', '/sandbox/faults'], (req, res) => {
      if (wantsJson(req)) return void res.json(state())
      if (isCustomerView(req)) return problem(res, 404, HIDDEN)
      const { possible } = faults
      page(res, 'control', {
        title: 'Control',
        account: req.account,
        possible,
        actions,
        subjectOf,
        seenOf,
        ...state(),
      })
    })
    .post('/sandbox/faults', (req, res) => {
      const fault = faults.schema.safeParse(req.body)
      if (!fault.success) {
        const message = problemsOf(fault.error)
        return wantsJson(req)
          ? void res.status(400).json({ error: 'invalid_fault', message })
          : problem(res, 400, message)
      }
      faults.set(fault.data)
      if (wantsJson(req)) return void res.json(state())
      leaveNotice(res, describeFault(fault.data))
      return res.redirect(303, '/sandbox/faults')
    })
    .delete('/sandbox/faults', (_req, res) => void res.json(clear()))
  for (const [path, { run }] of Object.entries(actions))
    router.post(`/sandbox/${path}`, (req, res) => {
      const result = run(req.body ?? {})
      if (wantsJson(req)) return void res.json(result)
      leaveNotice(res, result.message)
      return res.redirect(303, '/sandbox/faults')
    })
  return router
}

function describeFault({ endpoint, fault, times }: FaultSetting): string {
  if (fault === 'none') return `Everything is as usual at ${subjectOf(endpoint)} (${endpoint}).`
  const until =
    times === undefined ? 'until you clear the fault' : times === 1 ? 'for one call' : `for ${times} calls`
  return `${seenOf(endpoint, fault)} (${endpoint}: ${fault}), ${until}. Use the app to see what happens.`
}
