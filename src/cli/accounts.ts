/** `npm run accounts -- COMMAND`: manages the accounts of `src/web/password-sign-in.ts`. */
import '../runtime/env-file.ts'
import { randomBytes } from 'node:crypto'
import { createCommand } from '../runtime/command.ts'
import { print } from '../runtime/print.ts'
import { type Account, PasswordAccounts } from '../web/password-accounts.ts'
import { deleteUser } from './user-data.ts'
import { withApp } from './with-app.ts'

const newPassword = () => randomBytes(12).toString('base64url')
const say = (email: string, password: string) => print(`${email} can sign in with the password ${password}`)

async function find(accounts: PasswordAccounts, email: string): Promise<Account> {
  const account = await accounts.find(email)
  if (!account) throw new Error(`There is no account of ${email}. To see all: npm run accounts -- list`)
  return account
}

async function create(accounts: PasswordAccounts, email: string): Promise<void> {
  if (!/^[^\s\p{Cc}@]+@[^\s\p{Cc}@]+$/u.test(email))
    throw new Error('The email address must be like ann@example.com.')
  const password = newPassword()
  if (!(await accounts.create(email, password))) throw new Error(`There is an account of ${email} already.`)
  say(email, password)
}

async function replacePassword(accounts: PasswordAccounts, email: string): Promise<void> {
  const password = newPassword()
  await find(accounts, email)
  await accounts.setPassword(email, password)
  say(email, password)
  print('Users who are signed in stay signed in, for up to 24 hours.')
}

const command = createCommand(
  'npm run accounts --',
  'Manages the accounts of the sign-in with email and password.',
)
const add = (
  name: string,
  description: string,
  work: (accounts: PasswordAccounts, email: string) => unknown,
) =>
  command
    .command(name)
    .description(description)
    .action((email) => withApp(async ({ store }) => void (await work(new PasswordAccounts(store), email))))
const printAll = (found: readonly Account[]) => print(...found.map(({ id, email }) => `${id}\t${email}`))

add('create <email>', 'creates an account, and prints its password', create)
add('list', 'lists all accounts: the id of the user, and the email address', async (accounts) =>
  printAll(await accounts.list()),
)
add('find <email>', 'finds the account of an email address', async (...of) => printAll([await find(...of)]))
add('password <email>', 'gives an account a new password, and prints it', replacePassword)
command
  .command('remove <email>')
  .option('--yes', 'remove it; without this, only say what would be deleted')
  .description('removes an account with all that is stored about its user, and ends the consents')
  .action((email: string, options: { yes?: boolean }) =>
    // The data goes with the account: without the account, nobody could use or find the data of its user.
    withApp(async (app) => {
      const signIn = new PasswordAccounts(app.store)
      await deleteUser({ ...app, signIn }, (await find(signIn, email)).id, options)
    }),
  )
await command.parseAsync()
