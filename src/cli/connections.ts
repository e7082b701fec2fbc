/** `npm run connections -- COMMAND`: lists the connections of all users, or revokes a connection. */
import '../runtime/env-file.ts'
import { Option } from 'commander'
import { CONNECTION_STATES, type ConnectionRef, connectionKind } from '../connect/index.ts'
import { allOwners } from '../connect/stores.ts'
import type { Dependencies } from '../dependencies.ts'
import { createCommand } from '../runtime/command.ts'
import { print, printError, printJson } from '../runtime/print.ts'
import { connectionView } from '../web/pages/connection-view.ts'
import { CONSENT, userArgument } from './user-data.ts'
import { withApp } from './with-app.ts'

/** All connections as users see them, without tokens, user by user. `consent`: the number of the consent, as in the log. */
async function* rows({ store, connect }: Dependencies) {
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
  // The list can be long. Stop when the program that reads it ends.
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => code === 'EPIPE' && process.exit())
  for await (const row of rows(dependencies)) {
    if (status && row.status !== status) continue
    const fields = [row.userId, row.bxcontext, row.status, row.name, row.userName ?? '']
    if (![...fields, row.businessName, row.consent].join('\n').toLowerCase().includes(text.toLowerCase()))
      continue
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

interface ListOptions {
  status?: string
  json?: boolean
}

const command = createCommand(
  'npm run connections --',
  'Lists the connections of all users, and revokes one. Never shows a token.',
)
command
  .command('list [text]')
  .description(
    'lists all connections, or those with this text in an id, a name, or the number of a consent in the log',
  )
  .addOption(new Option('--status <status>').choices(Object.keys(CONNECTION_STATES)))
  .option('--json', 'one JSON object per line, with all fields')
  .action((text = '', options: ListOptions) => withApp((app) => list(app, text, options)))
command
  .command('revoke')
  .addArgument(userArgument())
  .argument('<bxcontext>')
  .description('deletes a connection, and ends its consent if the platform has a revocation endpoint')
  .action((userId: string, bxcontext: string) => withApp((app) => revoke(app, { userId, bxcontext })))
await command.parseAsync()
