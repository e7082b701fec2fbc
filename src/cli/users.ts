/** `npm run users -- COMMAND`: signs a user out, or exports or deletes their data, for example for a data-protection request. */
import '../runtime/env-file.ts'
import { writeFileSync } from 'node:fs'
import type { Dependencies } from '../dependencies.ts'
import { createCommand } from '../runtime/command.ts'
import { print, printJson, toJson } from '../runtime/print.ts'
import { deleteUser, exportUser, userArgument } from './user-data.ts'
import { withApp } from './with-app.ts'

/** Writes a user's data to a file or to standard output. */
async function writeUser(app: Dependencies, userId: string, file?: string): Promise<void> {
  const exported = { userId, exportedAt: new Date().toISOString(), ...(await exportUser(app, userId)) }
  if (file === undefined) return printJson(exported)
  writeFileSync(file, `${toJson(exported, 2)}\n`, { mode: 0o600, flag: 'wx' })
  print(`Wrote ${file}.`)
}

const command = createCommand('npm run users --', 'Manages users and their data. Never shows a token.')
command
  .command('sign-out')
  .addArgument(userArgument())
  .description('ends all sessions of a user, in every browser')
  .action((userId: string) =>
    withApp(async ({ sessionStore }) => {
      await sessionStore.endAll(userId)
      print(`${userId} is signed out everywhere.`)
    }),
  )
command
  .command('export')
  .addArgument(userArgument())
  .option('--out <file>', 'a new file, readable by you only')
  .description(
    'prints what is stored about a user, as JSON, without tokens, passwords, and the content of files',
  )
  .action((userId: string, { out }: { out?: string }) => withApp((app) => writeUser(app, userId, out)))
command
  .command('delete')
  .addArgument(userArgument())
  .option('--yes', 'delete it; without this, only say what would be deleted')
  .description('ends the consents of a user, and deletes what is stored about them')
  .action((userId: string, options: { yes?: boolean }) => withApp((app) => deleteUser(app, userId, options)))
await command.parseAsync()
