/**
 * Compares the documentation with the code. No test names a feature: what belongs to one is found by its folder, so that
 * the tests also pass after `npm run remove-feature`.
 */
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createApp } from '../../src/app.ts'
import { assumptionsPage, httpApiPage } from '../../src/cli/docs.ts'
import { coreSettings } from '../../src/config.ts'
import { loadContracts, placeOf } from '../../src/features/contracts.ts'
import { ACCOUNTS } from '../../src/sandbox/accounts.ts'
import type { SettingsGroup } from '../../src/settings/read.ts'
import { connectionViewSchema } from '../../src/web/connection-view.ts'
import { texts } from '../../src/web/texts.ts'
import { type Running, startAll } from '../support/app.ts'
import { all, codeIn, files, ROOT, read, rows } from '../support/documents.ts'
import { probe } from '../support/probe.ts'

/** The changelog is not among them: it names what no longer exists. */
const DOCS = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...files('docs/*.md')]

/** What a connection can be. */
const STATES = connectionViewSchema.shape.status.options

test('docs/assumptions.md is what `npm run docs` writes', async () => {
  // Where a feature has been cut out, blank lines may be left.
  const plain = (text: string) => text.replace(/\n{3,}/g, '\n\n').trim()
  expect(plain(read('docs/assumptions.md'))).toBe(plain(await assumptionsPage()))
})

test('docs/http-api.md is what `npm run docs` writes', async () => {
  const page = read('docs/http-api.md')
  expect(page).toBe(await httpApiPage(page))
})

test('each assumption names a place in the code that exists', async () => {
  for (const contract of await loadContracts())
    for (const assumption of contract.assumptions)
      expect(placeOf(contract, assumption)).toMatch(/^src\/\S+\.ts:\d+$/)
})

test('the README has at most 120 lines', () => {
  expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(120)
})

describe('what the documents refer to', () => {
  test.each(DOCS)('%s links to files and headings that exist', (doc) => {
    const targets = all(read(doc), /\]\(([^()\s]+)\)/g).filter((target) => !/^[a-z]+:/.test(target))
    const broken = targets.filter((target) => {
      const [path = '', heading] = target.split('#')
      const file = path === '' ? doc : join(dirname(doc), path)
      return !existsSync(join(ROOT, file)) || (heading !== undefined && !anchors(file).includes(heading))
    })
    expect(broken).toEqual([])
  })

  test.each(DOCS)('%s names paths that exist', (doc) => {
    const paths = all(read(doc), /(?<![\w./-])(?:src|views|test|docs)\/[\w./*-]*\w/g)
    // NAME stands for a feature.
    const missing = paths.filter((path) => !/NAME|\*/.test(path) && !existsSync(join(ROOT, path)))
    expect(missing).toEqual([])
  })

  test('every npm script that is named exists, and every script is named', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const named = DOCS.flatMap((doc) =>
      all(read(doc), /\bnpm (?:run ([a-z][\w-]*(?::\w+)?)|(?:start|test)\b)/g),
    )
    const called = Object.keys(scripts).filter(
      (name) => !/^(pre|post)(.+)$/.test(name) || !isHook(name, scripts),
    )
    expect(new Set(named.map((name) => name.replace('npm ', '')))).toEqual(new Set(called))
  })
})

const isHook = (name: string, scripts: Record<string, string>) => name.replace(/^(pre|post)/, '') in scripts

/** The anchors of headings, as GitHub makes them. */
const anchors = (file: string) =>
  all(read(file), /^#+ (.+)$/gm).map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )

describe('docs/configuration.md', () => {
  const documented = rows(read('docs/configuration.md'), 'Variable').map(([name, value = '']) => ({
    name: codeIn(name)[0] ?? '',
    value,
  }))

  test('names exactly the settings of the core, the features and the sandbox', async () => {
    const names = (await settingsGroups()).flatMap((group) => Object.keys(group.variables({})))
    const ofSandbox = all(read('src/runtime/run-sandbox.ts'), /\bSANDBOX_[A-Z_]+\b/g)
    expect(documented.map(({ name }) => name).sort()).toEqual([...new Set([...names, ...ofSandbox])].sort())
  })

  test('gives the default that the schema has', async () => {
    const groups = await settingsGroups()
    const wrong = documented.filter(({ name, value }) => {
      // A feature may read a setting twice, for the app and for a command that cannot do without it.
      const schemas = groups.flatMap((group) => group.variables({})[name] ?? [])
      return schemas.length > 0 && !schemas.some((schema) => hasDefault(schema, value))
    })
    expect(wrong).toEqual([])
  })

  test('of features stands between their markers', () => {
    const text = read('docs/configuration.md')
    for (const path of files('src/features/*/settings.ts')) {
      const name = basename(dirname(path))
      expect(text).toMatch(new RegExp(`<!-- feature: ${name} -->\\n[\\s\\S]+?\\n<!-- end of feature -->`))
    }
  })
})

/** All groups of settings: those of the core, and those that a feature's settings.ts exports. */
async function settingsGroups(): Promise<SettingsGroup<unknown>[]> {
  const modules = await Promise.all(
    files('src/features/*/settings.ts').map((path) => import(pathToFileURL(join(ROOT, path)).href)),
  )
  const exported = modules.flatMap((module) => Object.values(module as Record<string, unknown>))
  return [...Object.values(coreSettings), ...exported].filter(isGroup)
}

const isGroup = (value: unknown): value is SettingsGroup<unknown> =>
  typeof (value as Partial<SettingsGroup<unknown>> | null)?.variables === 'function'

/** Whether the documented default, such as "`3000`", "required" or "unset: all addresses", is the schema's. */
function hasDefault(schema: z.core.$ZodType, documented: string): boolean {
  const absent = z.safeParse(schema, undefined)
  if (documented.startsWith('required')) return !absent.success
  if (!absent.success) return false
  if (documented.startsWith('unset'))
    return [undefined, [], new URLSearchParams()].some((none) => isDeepStrictEqual(absent.data, none))
  return isDeepStrictEqual(absent.data, z.safeParse(schema, codeIn(documented)[0]).data)
}

describe('docs/troubleshooting.md', () => {
  /**
   * The codes are read from the source, as they have no list in common: the `code` of error classes, the second argument
   * of errors that are created with a status, the `code` in object literals, the keys of TITLES, FAILURES and …_ERRORS,
   * and those of the texts. Codes of the sandbox are the platform's.
   */
  function errorCodes(): string[] {
    const source = files('src/**/*.ts')
      .filter((path) => !/^src\/(sandbox|supplier-api)\/|\/texts\.ts$/.test(path))
      .map(read)
      .join('\n')
    const tables = all(source, /const (?:TITLES|FAILURES|[A-Z]+_ERRORS)\b[^=]*= \{\n([\s\S]*?)\n\}/g)
    const codes = [
      ...all(source, /\breadonly code = '(\w+)'/g),
      ...all(source, /\bnew \w*Error\(\s*\d{3},\s*'(\w+)'/g),
      ...all(source, /\bcode: '([a-z]+(?:_[a-z]+)*)'/g),
      ...Object.keys({ ...texts.errors, ...texts.connectErrors }),
      ...tables.flatMap((table) => all(table, /^ {2}([a-z]\w*):/gm)),
    ]
    return [...new Set(codes)].sort()
  }

  test('explains exactly the error codes that the app has', () => {
    const documented = rows(read('docs/troubleshooting.md'), 'Code').flatMap(([code]) => codeIn(code))
    expect([...new Set(documented)].sort()).toEqual(errorCodes())
  })

  test('explains every state of a connection', () => {
    const badges = rows(read('docs/troubleshooting.md'), 'Badge').flatMap(([badge]) => codeIn(badge))
    expect(badges.sort()).toEqual(STATES.map((state) => texts.status[state]).sort())
  })
})

describe('with the app and the sandbox', () => {
  let app: Running
  beforeAll(async () => {
    app = await startAll()
  })
  afterAll(() => app.close())

  test('docs/http-api.md names exactly the routes of the app', () => {
    const documented = rows(read('docs/http-api.md'), 'Route').flatMap(([route]) => codeIn(route))
    const plain = app.services.parts.flatMap(({ plainHandlers = [] }) => plainHandlers)
    const routes = [
      ...routesOf(createApp(app.services).router.stack as unknown as Layer[]),
      ...plain.flatMap((handler) => handler.routes),
    ]
    // The feature that only tests have.
    const real = routes.filter((route) => !route.includes(`/${probe.name}`))
    expect(documented.sort()).toEqual([...new Set(real)].sort())
  })

  test('docs/http-api.md names exactly the fields of a connection', () => {
    const text = read('docs/http-api.md')
    const fields = rows(text, 'Field').flatMap(([field]) => codeIn(field))
    expect(fields.sort()).toEqual(Object.keys(connectionViewSchema.shape).sort())
    for (const state of STATES) expect(text).toContain(`\`${state}\``)
  })

  test('docs/sandbox.md names exactly the faults and quick actions of the sandbox', async () => {
    const page = await (
      await fetch(`${app.platform}/sandbox/faults`, { headers: { accept: 'text/html' } })
    ).text()
    const faults = page
      .split('<section')
      .flatMap((section) =>
        all(section, /name="endpoint" value="(\w+)"/g).map((endpoint) => ({ endpoint, section })),
      )
      .map(({ endpoint, section }) => [
        endpoint,
        all(section, /<option value="(\w+)"/g).filter((fault) => fault !== 'none'),
      ])
      .filter(([endpoint]) => endpoint !== probe.name)
    const documented = rows(read('docs/sandbox.md'), 'Endpoint').map(([endpoint, names]) => [
      codeIn(endpoint)[0],
      codeIn(names),
    ])
    expect(documented.sort()).toEqual(faults.sort())

    const actions = all(page, /action="\/sandbox\/([\w/-]+)"/g).filter((action) => action !== 'faults')
    const documentedActions = rows(read('docs/sandbox.md'), 'Action').flatMap(([action]) => codeIn(action))
    expect(documentedActions.sort()).toEqual(actions.map((action) => `POST /sandbox/${action}`))
  })

  test('docs/sandbox.md names the accounts', () => {
    const documented = rows(read('docs/sandbox.md'), 'Email').map(([email, name = '', businesses]) => [
      codeIn(email)[0],
      name.split(',')[0],
      businesses,
    ])
    const accounts = ACCOUNTS.map(({ email, name, businesses }) => [
      email,
      name,
      businesses.map((business) => business.name).join(', '),
    ])
    expect(documented).toEqual(accounts)
  })
})

interface Layer {
  /** Where a router is mounted. */
  rawPath: string
  route?: { path: string | string[]; methods: Record<string, boolean> }
  handle: { stack?: Layer[] }
}

/** Every route of a router and of those mounted in it, such as `GET /connections`. */
function routesOf(layers: Layer[], prefix = ''): string[] {
  return layers.flatMap(({ rawPath, route, handle }) => {
    if (!route) return routesOf(handle.stack ?? [], prefix + (rawPath === '/' ? '' : rawPath))
    // HEAD is answered like GET, and what answers every method only rejects it.
    const methods = Object.keys(route.methods).filter((method) => method !== 'head' && method !== '_all')
    return methods.flatMap((method) =>
      [route.path]
        .flat()
        .map((path) => `${method.toUpperCase()} ${`${prefix}${path}`.replace(/(?<=.)\/$/, '')}`),
    )
  })
}

describe('docs/architecture.md', () => {
  test('names exactly the members of a feature', () => {
    const members = rows(read('docs/architecture.md'), 'Member').flatMap(([member]) => codeIn(member))
    const [type = ''] = all(read('src/features/feature.ts'), /interface Feature<[^>]*> \{\n([\s\S]*?)\n\}/g)
    expect(members.sort()).toEqual(all(type, /^ {2}(?:readonly )?(\w+)\??[:(]/gm))
  })

  const connection = read('src/connect/vault/connection.ts')
  const [diagram = ''] = all(read('docs/architecture.md'), /```mermaid\nstateDiagram-v2\n([\s\S]*?)```/g)

  test('draws exactly the kinds of a connection’s record', () => {
    const drawn = [...all(diagram, /(\w+) -->/g), ...all(diagram, /--> (\w+)/g)]
    expect([...new Set(drawn)].sort()).toEqual(all(connection, /status: z\.literal\('(\w+)'\)/g))
  })

  test('draws exactly the functions that change a record', () => {
    const drawn = all(diagram, /: (.+)$/gm).flatMap((names) => names.split(', '))
    // Those that take a record first and return one.
    const transitions = connection.split(/^export /m).flatMap((text) => {
      const [, name] = /^(?:function|const) (\w+)(?: = )?\(\s*record: ConnectionRecord\b/.exec(text) ?? []
      const [, returned] = /\): (\w+)/.exec(text) ?? []
      return name !== undefined && returned === 'ConnectionRecord' ? [name] : []
    })
    expect(transitions.length).toBeGreaterThan(0)
    expect([...new Set(drawn)].sort()).toEqual(transitions.sort())
  })

  test('names exactly the fields of a connection’s record', () => {
    const named = rows(read('docs/architecture.md'), 'Field').flatMap(([field]) => codeIn(field))
    const [schemas = ''] = all(connection, /\nconst common = \{\n([\s\S]*?)\nconst recordSchema/g)
    expect(named.sort()).toEqual(all(schemas, /^ {2}(\w+): /gm))
  })
})

/** Features that have a document of their own. */
const documentedFeatures = files('docs/*.md')
  .map((path) => basename(path, '.md'))
  .filter((name) => existsSync(join(ROOT, 'src/features', name)))

describe.runIf(documentedFeatures.length > 0)('the document of a feature', () => {
  test.each(documentedFeatures)('docs/%s.md names exactly the options of its commands', (name) => {
    const source = files(`src/features/${name}/cli-*.ts`).map(read).join('\n')
    const options = all(source, /['`\s(](--[a-z]+(?:-[a-z]+)*)\b/g)
    const documented = rows(read(`docs/${name}.md`), 'Option').flatMap(([option]) =>
      codeIn(option).map((text) => text.split(' ')[0] ?? ''),
    )
    const others = all(read(`docs/${name}.md`), /(?<![\w-])--[a-z]+(?:-[a-z]+)*/g)
    expect(new Set([...documented, ...others, '--help'])).toEqual(new Set([...options, '--help']))
  })

  test.each(documentedFeatures)('docs/%s.md names the columns of its sample files', (name) => {
    const documented = rows(read(`docs/${name}.md`), 'File').map(([file = '', columns]) => ({
      file,
      columns,
    }))
    for (const path of files(`src/features/${name}/sample/*.csv`)) {
      const [headings = ''] = read(path).split(/\r?\n/)
      const row = documented.find(({ file }) => codeIn(file).includes(basename(path)))
      expect(codeIn(row?.columns), path).toEqual(expect.arrayContaining(headings.split(',')))
    }
  })
})

test('every marker of a feature has its end', () => {
  for (const doc of DOCS) {
    const markers = read(doc)
      .split('\n')
      .map((line) => /^<!-- (feature: [\w-]+|end of feature) -->$/.exec(line)?.[1])
      .filter((marker) => marker !== undefined)
    // The example of the marker is in a code block, and stands for any feature.
    for (const [index, marker] of markers.entries())
      expect(marker === 'end of feature', `${doc}: ${marker}`).toBe(index % 2 === 1)
    const known = ['NAME', ...files('src/features/*/index.ts').map((path) => basename(dirname(path)))]
    for (const marker of markers.filter((text) => text !== 'end of feature'))
      expect(known, doc).toContain(marker.replace('feature: ', ''))
  }
})

test('the README names files and folders that exist', () => {
  const readme = read('README.md')
  const named = new Set([...readme.matchAll(/\bsrc\/[\w./-]*\w/g)].map(([path]) => path))
  expect([...named].filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})
