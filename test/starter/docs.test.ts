/**
 * Compares the documentation with the code. No test names a feature: what belongs to one is found by its folder, so that
 * the tests also pass after `npm run remove-feature`.
 */
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { partsOf } from '../../src/app.ts'
import { generatedFiles } from '../../src/cli/docs.ts'
import { isOfStarter } from '../../src/cli/removal.ts'
import { routesOf } from '../../src/cli/routes.ts'
import { CONNECTION_STATES } from '../../src/connect/index.ts'
import { loadContracts, placeOf } from '../../src/features/contracts.ts'
import { groupsOf } from '../../src/features/folders.ts'
import { loadFeatures } from '../../src/features/load.ts'
import { ACCOUNTS } from '../../src/sandbox/accounts.ts'
import { variablesOf } from '../../src/settings/read.ts'
import { texts } from '../../src/web/texts.ts'
import { type Running, startAll } from '../support/app.ts'
import { all, codeIn, files, ROOT, read, rows } from '../support/documents.ts'
import { connected, connectionsOf } from '../support/flow.ts'
import { probe } from '../support/probe.ts'

const features = await loadFeatures()

/** The changelog is not among them: it names what no longer exists. */
const DOCS = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'test/starter/README.md',
  ...files('docs/{*,*/*}.md'),
]

/** The rows with this first heading in all documents: the core's, and those of the features. */
const rowsOfAll = (heading: string) => DOCS.flatMap((doc) => rows(read(doc), heading))

/** The documents that people write. The links and paths in the others come from the code. */
const WRITTEN = DOCS.filter((doc) => !['docs/assumptions.md', 'docs/configuration.md'].includes(doc))

/** Whether a path is in the folder of a feature that was deleted: the demo script shows the starter with all of them. */
const isOfAbsent = (path: string) => {
  const [folder] = /^(?:src|test)\/features\/[\w-]+/.exec(path) ?? []
  return folder !== undefined && !existsSync(join(ROOT, folder.replace('test/', 'src/')))
}

/** The states of a connection. */
const STATES = Object.values(CONNECTION_STATES)

// The section of a feature whose folder was deleted stays until `npm run docs` runs.
test('what is generated has each section that `npm run docs` writes', async () => {
  for (const [path, text] of await generatedFiles())
    for (const section of text.split(/\n\n(?=## |# --- )/))
      expect(read(path), path).toContain(section.trimEnd())
})

test('every feature has a page', () => {
  const missing = features.filter(({ folder }) => !existsSync(join(ROOT, `docs/${folder}.md`)))
  expect(missing).toEqual([])
})

test('each assumption names a place in the code that exists', async () => {
  for (const contract of await loadContracts())
    for (const assumption of contract.assumptions) {
      const [name, path] = placeOf(contract, assumption).split(' in ')
      expect(read(path ?? ''), `${assumption.id}: ${path}`).toMatch(
        new RegExp(`\\b(const|function|interface|type|class) ${name}\\b|\\b${name}: `),
      )
    }
})

test('the README has at most 700 words, and its first commands come after at most 60', () => {
  const wordsOf = (text = '') => text.split(/\s+/).filter(Boolean).length
  const [beginning] = read('README.md').split('```')
  expect(wordsOf(read('README.md'))).toBeLessThanOrEqual(700)
  expect(wordsOf(beginning)).toBeLessThanOrEqual(60)
})

test('the page of concepts has at most 15 words to learn', () => {
  const words = rows(read('docs/concepts.md'), 'Word')
  expect(words.length).toBeGreaterThan(5)
  expect(words.length).toBeLessThanOrEqual(15)
})

/** Sections that the specification is cited by: `specification 4.1, 5.1`, or `given 5.3.4 and 5.3.6` in a contract. */
const citedIn = (text: string) =>
  all(text, /\b(?:specification|given) \(?(\d(?:\.\d)*(?:(?:, | and | to )\d(?:\.\d)*)*)/g).flatMap((cited) =>
    all(cited, /\d(?:\.\d)*/g),
  )

test('each cited section of the specification is on its page', () => {
  const sections = all(read('docs/specification.md'), /^(?:#+|-) (\d(?:\.\d)*) /gm)
  const cited = new Set(
    [...files('{src,views,test}/**/*.{ts,eta}'), ...DOCS].flatMap((path) => citedIn(read(path))),
  )
  expect(cited.size).toBeGreaterThan(10)
  expect([...cited].filter((section) => !sections.includes(section))).toEqual([])
})

/** The files and headings that a text links to. */
const linksIn = (text: string) => all(text, /\]\(([^()\s]+)\)/g).filter((target) => !/^[a-z]+:/.test(target))

describe('what the documents refer to', () => {
  test.each(WRITTEN)('%s links to files and headings that exist', (doc) => {
    const broken = linksIn(read(doc)).filter((target) => {
      const [path = '', heading] = target.split('#')
      const file = path === '' ? doc : join(dirname(doc), path)
      return !existsSync(join(ROOT, file)) || (heading !== undefined && !anchors(file).includes(heading))
    })
    expect(broken).toEqual([])
  })

  test.each(WRITTEN)('%s names paths that exist', (doc) => {
    const paths = all(read(doc), /(?<![\w./-])(?:src|views|test|docs)\/[\w./*-]*\w/g)
    // NAME stands for a feature.
    const missing = paths.filter(
      (path) => !/NAME|\*/.test(path) && !isOfAbsent(path) && !existsSync(join(ROOT, path)),
    )
    expect(missing).toEqual([])
  })

  // `init` writes a beginning of its own to the README.
  test.each(WRITTEN.filter((doc) => !isOfStarter(doc)))(
    '%s of a product links to no page that `npm run init` deletes',
    (doc) => {
      const text = read(doc)
      const kept =
        doc === 'README.md' ? text.slice(text.indexOf('\n## ', text.indexOf('\n## Make it yours') + 1)) : text
      expect(linksIn(kept).filter((target) => isOfStarter(join(dirname(doc), target)))).toEqual([])
    },
  )

  test('every npm script that is named exists, and every script is named', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const named = DOCS.flatMap((doc) =>
      all(read(doc), /\bnpm (?:run ([a-z][\w-]*(?::\w+)?)|(?:start|test)\b)/g),
    )
    expect(new Set(named.map((name) => name.replace('npm ', '')))).toEqual(new Set(Object.keys(scripts)))
  })
})

/** The anchors of headings, as GitHub makes them. */
const anchors = (file: string) =>
  all(read(file), /^#+ (.+)$/gm).map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )

describe('a file that features share', () => {
  const pages = features.map(({ folder }) => `docs/${folder}.md`)
  // The demo script shows the starter with all its features; the others are written from the features that there are.
  const ofGroups = groupsOf(features.map(({ folder }) => folder)).flatMap((group) =>
    files(`docs/${group}/*.md`),
  )
  const exempt = ['docs/demo.md', 'docs/assumptions.md', 'docs/configuration.md', ...pages, ...ofGroups]
  const shared = [...DOCS, ...files('docs/deploy/*'), 'compose.yaml', 'Dockerfile'].filter(
    (path) => !exempt.includes(path),
  )
  const commands = files('src/features/{*,*/*}/cli-*.ts').map((file) => {
    const [, feature, command] = /([^/]+)\/cli-(.+)\.ts$/.exec(file) ?? []
    return `${feature} ${command}`
  })
  const groups = features.flatMap(({ settings }) => settings?.({}) ?? [])
  const settings = groups.flatMap((group) => variablesOf(group).map(([name]) => name))

  test.each(shared)('%s speaks of no feature: neither its page, its commands nor its settings', (path) => {
    const text = read(path)
    const links = pages.filter((page) => text.includes(basename(page)))
    const named = commands.filter((name) => text.includes(`npm run feature -- ${name}`))
    const set = settings.filter((name) => new RegExp(`\\b${name}\\b`).test(text))
    expect([...links, ...named, ...set]).toEqual([])
  })

  test.each(pages)('%s links to no page of a feature that it does not need', (page) => {
    const needs = features.find(({ folder }) => page === `docs/${folder}.md`)?.needs ?? []
    const links = all(read(page), /\]\(([\w-]+\.md)/g).map((link) => `docs/${link}`)
    const allowed = [page, ...needs.map((name) => `docs/${name}.md`)]
    expect(links.filter((link) => pages.includes(link) && !allowed.includes(link))).toEqual([])
  })
})

/** Codes of the sandbox are the platform's, and those of a contract are compared by the tests of its feature. */
const WITHOUT_CODES = /^src\/sandbox\/|\/(?:texts|contract)\.ts$/

/**
 * The codes are read from the source, as they have no list in common: the `code` of error classes, the second argument
 * of errors that are created with a status, the `code` in object literals, and the keys of TITLES, FAILURES and …_ERRORS.
 */
function errorCodes(paths: string[]): string[] {
  const source = paths
    .filter((path) => !WITHOUT_CODES.test(path))
    .map(read)
    .join('\n')
  const tables = all(source, /const (?:TITLES|FAILURES|[A-Z]+_ERRORS)\b[^=]*= \{\n([\s\S]*?)\n\}/g)
  const codes = [
    ...all(source, /\breadonly code = '(\w+)'/g),
    ...all(source, /\b(?:new \w*Error|super)\(\s*\d{3},\s*'(\w+)'/g),
    ...all(source, /\bcode: '(?!custom')([a-z]+(?:_[a-z]+)*)'/g),
    ...tables.flatMap((table) => all(table, /^ {2}([a-z]\w*):/gm)),
  ]
  return [...new Set(codes)].sort()
}

const explainedBy = (path: string) => [...new Set(rows(read(path), 'Code').flatMap(([code]) => codeIn(code)))]
const inFeatures = (path: string) => /^src\/features\/[\w-]+\//.test(path)
const sources = files('src/**/*.ts')
const coreCodes = [
  ...new Set([
    ...errorCodes(sources.filter((path) => !inFeatures(path))),
    ...Object.keys({ ...texts.errors, ...texts.coreErrors, ...texts.connectErrors }),
  ]),
].sort()

test('the pages of the features explain exactly the error codes that these add to those of the core', () => {
  const isOfFeature = (path: string) =>
    features.some(({ folder }) => path.startsWith(`src/features/${folder}/`))
  // A file that a group shares counts if a feature of the group uses it.
  const isUsed = (path: string) =>
    isOfFeature(path) ||
    sources.some((other) => isOfFeature(other) && read(other).includes(`/${basename(dirname(path))}/`))
  const ofFeatures = errorCodes(sources.filter((path) => inFeatures(path) && isUsed(path)))
  const pages = features.flatMap(({ folder }) => explainedBy(`docs/${folder}.md`))
  expect(ofFeatures.filter((code) => ![...pages, ...coreCodes].includes(code))).toEqual([])
  expect(pages.filter((code) => ![...ofFeatures, ...coreCodes].includes(code))).toEqual([])
})

describe('docs/troubleshooting.md', () => {
  test('explains exactly the error codes of the core', () => {
    expect(explainedBy('docs/troubleshooting.md').sort()).toEqual(coreCodes)
  })
})

test.each(['docs/concepts.md', 'docs/troubleshooting.md'])(
  '%s explains every badge of a connection',
  (page) => {
    const badges = rows(read(page), 'Badge').flatMap(([badge]) => codeIn(badge))
    expect(badges.sort()).toEqual(STATES.map((state) => texts.status[state]).sort())
  },
)

describe('with the app and the sandbox', () => {
  let app: Running
  beforeAll(async () => {
    app = await startAll()
  })
  afterAll(() => app.close())

  test('the documents name exactly the routes of the app', () => {
    const documented = rowsOfAll('Route').flatMap(([route]) => codeIn(route))
    const routes = Object.values(partsOf(app.services)).flat().flatMap(routesOf)
    // Express answers HEAD like GET, and a handler for every method only rejects requests.
    const named = routes.flatMap(({ path, route }) =>
      route.stack
        .filter(({ method }) => method && method !== 'head')
        .map(({ method }) => `${method.toUpperCase()} ${path}`),
    )
    // Without the feature for tests.
    const real = named.filter((route) => !route.includes(`/${probe.name}`))
    expect(documented.sort()).toEqual([...new Set(real)].sort())
  })

  test('the row of a route begins with "Public" if it answers a visitor who is not signed in, and with nothing like it if not', async () => {
    const { open, connections, features, flow, pages } = partsOf(app.services)
    const routes = [...open, ...connections, ...features, ...flow, ...pages].flatMap(routesOf)
    const described = new Map(rowsOfAll('Route').map(([route, text = '']) => [codeIn(route)[0], text]))
    for (const { path, route } of routes.filter(({ path }) => !path.includes(`/${probe.name}`)))
      for (const { method } of route.stack.filter(({ method }) => method === 'get' || method === 'post')) {
        const url = app.url + path.replaceAll(/:\w+/g, 'x')
        const answer = await fetch(url, {
          method,
          headers: { accept: 'application/json' },
          redirect: 'manual',
        })
        const { code } = JSON.parse((await answer.text()) || '{}')
        const row = `${method.toUpperCase()} ${path}`
        const isPublic = described.get(row)?.startsWith('Public. ')
        expect(isPublic, row).toBe(code !== 'unauthenticated')
      }
  })

  test('the row of a list names each of its orders', async () => {
    const visitor = await connected(app)
    const lists = rowsOfAll('Route').filter(([, text = '']) => text.includes('`order`'))
    for (const [route, text] of lists) {
      const path = codeIn(route)[0]?.replace('GET ', '').replace(':bxcontext', 'harbour-homes')
      // A list that is one page has controls only for a search.
      const page = await visitor.get(`${app.url + path}?search=o`)
      const [, select = ''] = /<select[^>]* name="order"[^>]*>([\s\S]*?)<\/select>/.exec(page.text) ?? []
      const orders = all(select, /<option value="(\w+)"/g)
      expect(orders.length, path).toBeGreaterThan(0)
      expect(codeIn(text), path).toEqual(expect.arrayContaining(orders))
    }
  })

  test('docs/http-api.md names exactly the fields of a connection', async () => {
    const [connection = {}] = await connectionsOf(app, await connected(app, { name: 'fields' }))
    const text = read('docs/http-api.md')
    const fields = rows(text, 'Field').flatMap(([field]) => codeIn(field))
    expect(fields.sort()).toEqual(Object.keys(connection).sort())
    for (const state of STATES) expect(text).toContain(`\`${state}\``)
  })

  test('the documents name exactly the faults and quick actions of the sandbox', async () => {
    const page = await (
      await fetch(`${app.platform}/sandbox/faults`, { headers: { accept: 'text/html' } })
    ).text()
    const faults = page
      .split('<section')
      .flatMap((section) =>
        all(section, /name="endpoint" value="([\w-]+)"/g).map((endpoint) => ({ endpoint, section })),
      )
      .map(({ endpoint, section }) => [
        endpoint,
        all(section, /<option value="(\w+)"/g).filter((fault) => fault !== 'none'),
      ])
      .filter(([endpoint]) => endpoint !== probe.name)
    const documented = rowsOfAll('Endpoint').map(([endpoint, names]) => [codeIn(endpoint)[0], codeIn(names)])
    expect(documented.sort()).toEqual(faults.sort())

    const actions = all(page, /action="\/sandbox\/([\w/-]+)"/g).filter((action) => action !== 'faults')
    const documentedActions = rowsOfAll('Action').flatMap(([action]) => codeIn(action))
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

describe('docs/architecture.md', () => {
  test('names exactly the members of a feature', () => {
    const members = rows(read('docs/architecture.md'), 'Member').flatMap(([member]) => codeIn(member))
    const types = all(read('src/web/feature.ts'), /interface (?:Feature|Tools)<[^{]*\{\n([\s\S]*?)\n\}/g)
    expect(members.sort()).toEqual(all(types.join('\n'), /^ {2}(?:readonly )?(\w+)\??[:(]/gm).sort())
  })

  const connection = read('src/connect/vault/connection.ts')
  const [diagram = ''] = all(read('docs/architecture.md'), /```mermaid\nstateDiagram-v2\n([\s\S]*?)```/g)

  test('draws exactly the kinds of a connection’s record', () => {
    const drawn = [...all(diagram, /(\w+) -->/g), ...all(diagram, /--> (\w+)/g)]
    expect([...new Set(drawn)].sort()).toEqual(all(connection, /status: z\.literal\('(\w+)'\)/g))
  })
})

/** Features that have a document of their own. */
const documentedFeatures = files('docs/*.md')
  .map((path) => basename(path, '.md'))
  .filter((name) => existsSync(join(ROOT, 'src/features', name)))

describe.runIf(documentedFeatures.length > 0)('the document of a feature', () => {
  test.each(documentedFeatures)('docs/%s.md names exactly the options of its commands', (name) => {
    const source = files(`src/features/${name}/{cli-*,*.cli}.ts`).map(read).join('\n')
    const options = all(source, /['`\s([](--[a-z]+(?:-[a-z]+)*)\b/g)
    const documented = rows(read(`docs/${name}.md`), 'Option').flatMap(([option]) =>
      codeIn(option).map((text) => text.split(' ')[0] ?? ''),
    )
    const others = all(read(`docs/${name}.md`), /(?<![\w-])--[a-z]+(?:-[a-z]+)*/g)
    expect(new Set([...documented, ...others, '--help'])).toEqual(new Set([...options, '--help']))
  })
})
