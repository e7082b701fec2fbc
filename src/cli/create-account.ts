/** `npm run create-account -- EMAIL`: creates an account of `src/web/password-sign-in.ts`, and prints its new password. */
import '../runtime/env-file.ts'
import { randomBytes } from 'node:crypto'
import { storeSettings } from '../config.ts'
import { ready } from '../connect/stores.ts'
import { createCommand } from '../runtime/command.ts'
import { withDevelopmentSecrets } from '../runtime/dev-secrets.ts'
import { createLog } from '../runtime/log.ts'
import { print } from '../runtime/print.ts'
import { readSettings } from '../settings/read.ts'
import { createStore } from '../web/create-store.ts'
import { createAccount } from '../web/password-sign-in.ts'
import { failOf } from './with-app.ts'

const command = createCommand('npm run create-account --', 'Creates an account, and prints its password.')
  .argument('<email>', 'the email address of the user')
  .parse()
const [email = ''] = command.args

try {
  if (!/^[^\s\p{Cc}@]+@[^\s\p{Cc}@]+$/u.test(email))
    throw new Error('The email address must be like ann@example.com.')
  const config = readSettings(withDevelopmentSecrets(process.env), storeSettings)
  const { store } = await createStore(config, createLog('silent'))
  await ready(store)
  const password = randomBytes(12).toString('base64url')
  const isNew = await createAccount(store, email, password)
  await store.close()
  if (!isNew) throw new Error(`There is an account of ${email} already.`)
  print(`${email} can sign in with the password ${password}`)
} catch (error) {
  failOf(error)
}
