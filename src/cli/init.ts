/** `npm run init`: makes a clone of the starter yours. Asks, or takes flags for each answer and `--yes`. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cancel, confirm, isCancel, log, multiselect, select, text } from '@clack/prompts'
import { loadFeatures } from '../features/load.ts'
import { createCommand } from '../runtime/command.ts'
import { newSecrets } from '../runtime/dev-secrets.ts'
import { print } from '../runtime/print.ts'
import { fail } from '../runtime/serve.ts'
import { regenerate, requireFormatter, updateLockFile } from './generated.ts'
import { makeOwn, slugOf } from './make-own.ts'
import { openProject, readManifest, type Starter } from './project.ts'
import { describeFeature, findUnusedExports, tolerateUnusedExports } from './removal.ts'
import { commitOf, requireCleanTree } from './repository.ts'

const features = await loadFeatures()
const project = openProject(fileURLToPath(new URL('../..', import.meta.url)))

interface Answers {
  name: string
  /** The features to keep. */
  features: string[]
  scopes: string[]
  signIn: (typeof SIGN_INS)[number]
  port: number
  sandboxPort: number
  /** Undefined: the embedded SQLite. */
  redisUrl: string | undefined
}

const SIGN_INS = ['demo', 'openid', 'own'] as const
const EITHER = new Intl.ListFormat('en', { type: 'disjunction' })
const FEATURES: string[] = features.map(({ name }) => name)
const DEFAULT_PORT = '3000'
const DEFAULT_SANDBOX_PORT = '4400'

const command = createCommand('init', 'Makes this clone of the starter yours.')
  .option('--name <name>', 'the name of your product')
  .option('--features <names>', 'the features to keep, separated by commas; "none" keeps none (default: all)')
  .option(
    '--scopes <names>',
    'the scopes to ask users for, separated by commas (default: what the features need)',
  )
  .option('--sign-in <kind>', `how users sign in: ${SIGN_INS.join(', ')} (default: demo)`)
  .option('--port <number>', 'the port of the app (default: 3000)')
  .option('--sandbox-port <number>', 'the port of the sandbox (default: 4400)')
  .option('--redis-url <url>', 'store connections in this Redis (default: an embedded SQLite file)')
  .option('--yes', 'ask nothing: take the default of each answer that is not given', false)
  .parse()
interface Flags {
  name?: string
  features?: string
  scopes?: string
  signIn?: string
  port?: string
  sandboxPort?: string
  redisUrl?: string
  yes: boolean
}

/** Throws an error that names each flag that has a problem. */
function check({ name = '', features, scopes, signIn = 'demo', ...flags }: Flags): Answers {
  const { port = DEFAULT_PORT, sandboxPort = DEFAULT_SANDBOX_PORT, redisUrl } = flags
  const kept = featuresOf(features)
  const problems = Object.entries({
    '--name': problemOfName(name),
    '--features': problemOfFeatures(kept),
    '--sign-in': isSignIn(signIn) ? undefined : `must be ${EITHER.format(SIGN_INS)}`,
    '--port': problemOfPort(port),
    '--sandbox-port': problemOfSandboxPort(sandboxPort, port),
    '--redis-url': redisUrl === undefined ? undefined : problemOfRedisUrl(redisUrl),
  }).flatMap(([flag, problem]) => (problem ? `${flag}: ${problem}.` : []))
  if (problems.length > 0 || !isSignIn(signIn))
    throw new Error([...problems, 'Nothing was changed.'].join('\n'))
  return {
    name: name.trim(),
    features: kept,
    scopes: listOf(scopes),
    signIn,
    port: Number(port),
    sandboxPort: Number(sandboxPort),
    redisUrl,
  }
}

const listOf = (value = '') => value.split(',').flatMap((entry) => entry.trim() || [])
const isSignIn = (value: string): value is Answers['signIn'] => SIGN_INS.some((kind) => kind === value)

/** What is wrong with a name, or undefined. */
function problemOfName(name: string | undefined): string | undefined {
  const trimmed = name?.trim() ?? ''
  if (trimmed === '') return 'enter the name of your product, such as "Acme Link"'
  if (trimmed.length > 60) return 'at most 60 characters'
  // It becomes part of strings of the code and of pages.
  if (!/^[\p{L}\p{N}][\p{L}\p{N} .()-]*$/u.test(trimmed))
    return 'only letters, digits, spaces and . ( ) -, and a letter or a digit first'
  if (!/[a-z]/.test(slugOf(trimmed))) return 'it needs a letter from A to Z, for the name of the package'
  const { dependencies, devDependencies } = readManifest(project)
  if (Object.hasOwn({ ...dependencies, ...devDependencies }, slugOf(trimmed)))
    return `the package ${slugOf(trimmed)} is one that this project uses`
  return undefined
}

function featuresOf(value: string | undefined): string[] {
  if (value === undefined) return FEATURES
  return value.trim() === 'none' ? [] : listOf(value)
}

/** What is wrong if only these features are kept: one does not exist, or needs another one. */
function problemOfFeatures(kept: readonly string[]): string | undefined {
  const unknown = kept.find((name) => !FEATURES.includes(name))
  if (unknown) return `there is no feature "${unknown}". The features are: ${FEATURES.join(', ')}`
  const unmet = features
    .filter(({ name }) => kept.includes(name))
    .map(({ name, needs = [] }) => ({ name, missing: needs.filter((need) => !kept.includes(need)) }))
    .filter(({ missing }) => missing.length > 0)
    .map(({ name, missing }) => `${name} needs ${missing.join(' and ')}`)
  return unmet.length > 0 ? `${unmet.join('; ')}. Keep the features that others need` : undefined
}

function problemOfPort(value: string): string | undefined {
  const port = Number(value)
  const isPort = /^\d{1,5}$/.test(value) && port >= 1 && port <= 65_535
  return isPort ? undefined : 'must be a whole number from 1 to 65535'
}

function problemOfSandboxPort(value: string, port: string): string | undefined {
  return Number(value) === Number(port) ? 'must differ from the port of the app' : problemOfPort(value)
}

function problemOfRedisUrl(value: string): string | undefined {
  const isUrl = /^rediss?(\+sentinel)?:\/\/\S+$/.test(value)
  return isUrl ? undefined : 'must be an address such as redis://localhost:6379'
}

/** Asks for what the flags do not say. Ends the process if the user stops. */
async function ask(flags: Flags): Promise<Flags> {
  if (!process.stdin.isTTY)
    throw new Error('There is no terminal to ask in: add --name and --yes. Nothing was changed.')
  const name =
    flags.name ?? (await answered(text({ message: 'The name of your product', validate: problemOfName })))
  const kept = flags.features ?? (await askForFeatures())
  const signIn =
    flags.signIn ??
    (await answered(
      select({
        message: 'How users sign in',
        options: [
          { value: 'demo', label: 'By any name, for now', hint: 'not in production' },
          { value: 'openid', label: 'OpenID Connect' },
          { value: 'own', label: 'The sign-in of your product' },
        ],
      }),
    ))
  const port = flags.port ?? (await askFor('The port of the app', problemOfPort, DEFAULT_PORT))
  const problemOfOther = (value: string) => problemOfSandboxPort(value, port)
  const sandboxPort =
    flags.sandboxPort ?? (await askFor('The port of the sandbox', problemOfOther, DEFAULT_SANDBOX_PORT))
  const redisUrl =
    flags.redisUrl ?? (await askFor('A Redis URL; empty for an embedded SQLite file', problemOfRedisUrl))
  const answers = { ...flags, name, features: kept || 'none', signIn, port, sandboxPort }
  const complete: Flags = redisUrl ? { ...answers, redisUrl } : answers
  check(complete)
  if (!(await answered(confirm({ message: `Make this clone ${name}?` })))) {
    cancel('Nothing was changed.')
    process.exit(1)
  }
  return complete
}

async function answered<T>(asked: Promise<T>): Promise<Exclude<T, symbol>> {
  const answer = await asked
  if (!isCancel(answer)) return answer as Exclude<T, symbol>
  cancel('Nothing was changed.')
  process.exit(1)
}

/** Asks until the answer has no problem, or is empty: that is `defaultValue`. */
function askFor(message: string, problemOf: (value: string) => string | undefined, defaultValue = '') {
  const validate = (value = '') => (value || defaultValue ? problemOf(value || defaultValue) : undefined)
  return answered(text({ message, placeholder: defaultValue, defaultValue, validate }))
}

/** Asks until each feature has those that it needs. */
async function askForFeatures(): Promise<string> {
  const options = features.map(({ name, needs = [] }) => {
    const { purpose, lines } = describeFeature(project, name)
    const needed = needs.length > 0 ? `; needs ${needs.join(', ')}` : ''
    return { value: name, label: name, hint: `${purpose}; ${lines} lines${needed}` }
  })
  for (let initialValues = FEATURES; ; ) {
    const message = 'The features to keep'
    initialValues = await answered(multiselect({ message, options, initialValues, required: false }))
    const problem = problemOfFeatures(initialValues)
    if (!problem) return initialValues.join(',')
    log.warn(`${problem}.`)
  }
}

function init(answers: Answers): void {
  const removed = features.map(({ name }) => name).filter((name) => !answers.features.includes(name))
  const { version } = readManifest(project)
  const starter: Starter = { version, commit: commitOf(project.root), name: answers.name, removed }
  const unusedBefore = findUnusedExports(project)
  makeOwn(project, starter)
  const wroteEnv = writeEnv(answers)
  regenerate(project)
  updateLockFile(project)
  tolerateUnusedExports(project, unusedBefore)
  print(
    `This clone is now ${answers.name}. git diff shows the changes.`,
    '',
    '1. npm run demo        the app and the sandbox; it prints their addresses',
    '2. npm test            checks what is left',
    `3. ${SIGN_IN_STEPS[answers.signIn]}`,
    `4. ${wroteEnv ? '.env has fresh secrets; enter your credentials there' : 'There was an .env already: it is unchanged'}`,
    '5. npm run add-feature -- NAME adds a feature of your own; commit what is here first',
  )
}

const SIGN_IN_STEPS: Record<Answers['signIn'], string> = {
  demo: 'Users sign in by any name; before production, see "Replace the sign-in" in the README',
  openid: 'Set OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET in .env',
  own: 'Set OWN_SIGN_IN in src/web/sign-in.ts; see "Replace the sign-in" in the README',
}

/** Writes an .env with fresh secrets, unless there is one. Resolves to whether it did. */
function writeEnv({ name, scopes, port, sandboxPort, redisUrl }: Answers): boolean {
  const file = join(project.root, '.env')
  if (existsSync(file)) return false
  const values: Record<string, string> = {
    ...newSecrets(),
    PORT: String(port),
    // The demo has kept its data in .data until now, and encrypted it with other keys.
    DATA_DIR: '.data/app',
    SANDBOX_PORT: String(sandboxPort),
    ...(scopes.length > 0 && { PLATFORM_SCOPES: scopes.join(' ') }),
    ...(redisUrl && { REDIS_URL: redisUrl }),
    ...(project.read('.env.example').includes('APP_NAME=') && { APP_NAME: name }),
  }
  let example = project.read('.env.example')
  for (const [variable, value] of Object.entries(values))
    example = example.replace(new RegExp(`^(# )?${variable}=.*`, 'm'), () => `${variable}=${value}`)
  writeFileSync(file, example, { mode: 0o600 })
  return true
}

try {
  const { starter } = readManifest(project)
  if (starter) {
    print(
      `This is ${starter.name} already. Nothing was changed. npm run remove-feature removes features; .env has the settings.`,
    )
    process.exit(0)
  }
  requireFormatter(project)
  requireCleanTree(project.root)
  const flags = command.opts<Flags>()
  const answers = check(flags.yes ? flags : await ask(flags))
  init(answers)
} catch (error) {
  fail(error)
}
