/** `npm run connections -- COMMAND`: the connections of all users, for administration and data-protection requests. */
import '../runtime/env-file.ts'
import { writeFileSync } from 'node:fs'
import { Option } from 'commander'
import { type ConnectionRef, connectionKind, parseJson, type Revocation } from '../connect/index.ts'
import { allOwners } from '../connect/stores.ts'
import type { Dependencies } from '../dependencies.ts'
import { loadTools } from '../features/load.ts'
import { createCommand } from '../runtime/command.ts'
import { print, printError, printJson, toJson } from '../runtime/print.ts'
import { type ConnectionView, connectionView, STATUSES } from '../web/connection-view.ts'
import type { DeleteUserTool } from '../web/tools.ts'
import { withApp } from './with-app.ts'

/** A connection as on the user's pages, without tokens; `consent`: its number, which the log has. */
type Row = { userId: string; consent: number | null } & ConnectionView

const CONSENT: Record<Revocation, string> = {
  revoked: 'The platform has ended the consent.',
  remains: 'The consent remains on the platform: PLATFORM_REVOCATION_URL is not set.',
  unknown: 'The platform did not confirm that the consent has ended, so it may remain.',
}

/** All connections, one user after the other. */
async function* rows({ store, connect }: Dependencies): AsyncIterable<Row> {
  for await (const userId of allOwners(store, connectionKind(connect.platform.name)))
    for (const connection of await connect.vault.list(userId))
      yield {
        userId,
        consent: 'consent' in connection ? connection.consent : null,
        ...connectionView(connection),
      }
}

async function list(dependencies: Dependencies, text: string, { status, json }: ListOptions): Promise<void> {
  let found = 0
  for await (const row of rows(dependencies)) {
    if (status && row.status !== status) continue
    const fields = [row.userId, row.bxcontext, row.status, row.businessName ?? '', row.userName ?? '']
    if (![...fields, row.consent].join('\n').toLowerCase().includes(text.toLowerCase())) continue
    found++
    if (json) printJson(row, { compact: true })
    else print(fields.map((field) => field.replaceAll('\t', ' ')).join('\t'))
  }
  if (!json) printError(`${found} ${found === 1 ? 'connection' : 'connections'}.`)
}

async function revoke({ connect }: Dependencies, ref: ConnectionRef): Promise<void> {
  const consent = await connect.vault.disconnect(ref)
  if (consent === null)
    throw new Error(
      `${ref.userId} has no connection to ${ref.bxcontext}. To find it: npm run connections -- list TEXT`,
    )
  print(`The connection and its tokens are deleted. ${CONSENT[consent]}`)
}

/** What the store has about a user. */
async function exportUser({ store, connect }: Dependencies, userId: string, file?: string): Promise<void> {
  const entries = (await store.ofOwner(userId)).filter(
    ({ key }) => key.kind !== connectionKind(connect.platform.name),
  )
  const connections = (await connect.vault.list(userId)).map(connectionView)
  const others = entries.map(({ key: { kind, id }, value }) => ({
    kind,
    id,
    value: parseJson(value) ?? value,
  }))
  if (connections.length + others.length === 0) throw nothingStored(userId)
  const exported = { userId, exportedAt: new Date().toISOString(), connections, others }
  if (file === undefined) return printJson(exported)
  writeFileSync(file, `${toJson(exported, 2)}\n`, { mode: 0o600, flag: 'wx' })
  print(`Wrote ${file}.`)
}

async function deleteUser(
  { config, store, connect, parts, deps }: Dependencies,
  userId: string,
  { yes }: { yes?: boolean },
): Promise<void> {
  const connections = await connect.vault.list(userId)
  const entries = await store.ofOwner(userId)
  const isEmpty = connections.length + entries.length === 0
  if (isEmpty && !yes) throw nothingStored(userId)
  if (!yes)
    throw new Error(
      `This deletes all connections of ${userId} (${connections.length}) and ${entries.length} stored values. Add --yes. Nothing was changed.`,
    )
  for (const { bxcontext } of connections) {
    const consent = await connect.vault.disconnect({ userId, bxcontext })
    if (consent) print(`${bxcontext}: deleted. ${CONSENT[consent]}`)
  }
  for (const [name, deleteData] of await loadTools<DeleteUserTool>('delete-user.ts'))
    await deleteData(deps, config.features[name], userId)
  // Only now: what a feature has elsewhere is deleted also if the store has nothing.
  if (isEmpty) throw nothingStored(userId)
  // Features write what they have noted about the events above, so that nothing is written after the deletion.
  for (const part of parts) await part.stop?.()
  const rest = await store.ofOwner(userId)
  // What is left of a connection keeps a consent from being stored that began before the deletion; it expires within an hour.
  for (const { key } of rest) if (key.kind !== connectionKind(connect.platform.name)) await store.delete(key)
  print(
    `Everything else about ${userId} is deleted. The id remains for an hour where its connections were, and in a session, which ends within 24 hours.`,
  )
}

const nothingStored = (userId: string) =>
  new Error(`Nothing is stored about ${userId}. To find a user: npm run connections -- list TEXT`)

interface ListOptions {
  status?: string
  json?: boolean
}

const command = createCommand(
  'npm run connections --',
  'Lists and manages the connections of all users. Never shows a token.',
)
command
  .command('list [text]')
  .description(
    'all connections, or those with this text in an id, a name, or the number of a consent in the log',
  )
  .addOption(new Option('--status <status>').choices(STATUSES))
  .option('--json', 'one JSON object per line, with all fields')
  .action((text = '', options: ListOptions) => withApp((app) => list(app, text, options)))
command
  .command('revoke <user> <bxcontext>')
  .description('deletes a connection, and ends its consent if the platform has a revocation endpoint')
  .action((userId: string, bxcontext: string) => withApp((app) => revoke(app, { userId, bxcontext })))
command
  .command('export <user>')
  .option('--out <file>', 'a new file, readable by you only')
  .description('what the store has about a user, as JSON, without tokens and without the content of files')
  .action((userId: string, { out }: { out?: string }) => withApp((app) => exportUser(app, userId, out)))
command
  .command('delete <user>')
  .option('--yes', 'delete; otherwise only says what would be deleted')
  .description('ends the consents of a user, and deletes what is stored about them')
  .action((userId: string, options: { yes?: boolean }) => withApp((app) => deleteUser(app, userId, options)))
await command.parseAsync()
