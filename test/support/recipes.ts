import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import express, { Router } from 'express'
import type { NamedSandboxFeature } from '../../src/sandbox/load.ts'
import { sendPage } from '../../src/sandbox/odata.ts'
import { ROOT, read } from './documents.ts'
import { tempDir } from './env.ts'

/** The code of docs/recipes.md as it is written, by its file, which the first line names. */
const RECIPES = new Map(
  [...read('docs/recipes.md').matchAll(/```ts\n(\/\/ (\S+)\n[\s\S]*?)```/g)].map(
    ([, code = '', file = '']) => [`src/features/${file}`, code],
  ),
)

/** A copy of the project with the recipes as features. `recipes`: their files. */
export function projectWithRecipes() {
  const { dir, remove } = tempDir()
  for (const path of ['node_modules', 'views', 'package.json', 'biome.json', 'tsconfig.json'])
    symlinkSync(join(ROOT, path), join(dir, path))
  for (const path of ['src', 'test/support']) cpSync(join(ROOT, path), join(dir, path), { recursive: true })
  for (const [file, code] of RECIPES) {
    mkdirSync(join(dir, dirname(file)), { recursive: true })
    writeFileSync(join(dir, file), code)
  }
  return { dir, remove, recipes: [...RECIPES.keys()] }
}

/** The platform's leads with what the sandbox's own do not have: a filter on the status, and changes. */
export function createSandboxLeads() {
  const received = { lists: [] as Record<string, unknown>[], changes: [] as unknown[] }
  let before: Promise<void> | undefined
  const createdAt = '2026-01-01T00:00:00Z'
  const leads = [
    { id: 'L1', status: 'New', notes: 'Ask.', createdAt },
    { id: 'L2', status: "Won't buy", notes: '', createdAt },
  ]
  const routes = Router()
    .get('/', async (req, res) => {
      received.lists.push(req.query)
      await before
      const [, text = ''] = /^status eq '(.*)'$/.exec(String(req.query.$filter)) ?? []
      const wanted = leads.filter(({ status }) => status.replaceAll("'", "''") === text)
      sendPage(req, res, wanted)
    })
    .patch('/:id', express.json(), (req, res) => {
      const lead = leads.find(({ id }) => id === req.params.id)
      if (!lead) return void res.status(404).json({})
      received.changes.push(req.body)
      res.json(Object.assign(lead, req.body))
    })
  const feature: NamedSandboxFeature = {
    name: 'recipes',
    create: ({ guard }) => ({ api: Router().use('/leads', ...guard('leads', 'probe'), routes) }),
  }
  return {
    feature,
    /** The queries of lists, and the bodies of changes. */
    received,
    /** Lets lists wait before they are answered. */
    answersAfter(event: Promise<void>) {
      before = event
    },
  }
}
