/** Exports and deletes all data of a user. */
import { Argument, InvalidArgumentError } from 'commander'
import { connectionKind, isEncrypted, parseJson, type Revocation } from '../connect/index.ts'
import type { Dependencies } from '../dependencies.ts'
import { loadTools } from '../features/load.ts'
import { print } from '../runtime/print.ts'
import { connectionView } from '../web/pages/connection-view.ts'
import { isUserId } from '../web/sign-in/user.ts'

/** The user id argument of a command. It excludes the app's own records, which have other owners. */
export const userArgument = () =>
  new Argument('<user>').argParser((id: string) => {
    if (isUserId(id)) return id
    throw new InvalidArgumentError('A user id is text of 1 to 1,024 characters, without control characters.')
  })

export const CONSENT: Record<Revocation, string> = {
  revoked: 'The platform has ended the consent.',
  remains: 'The consent remains on the platform: PLATFORM_REVOCATION_URL is not set.',
  unknown: 'The platform did not confirm that the consent has ended, so it may remain.',
}

/**
 * Returns all data that the sign-in, the core and each feature keep about a user. Leaves out tokens, passwords, the content of
 * files, and encrypted values, which only the app can use. Throws an error if there is no data.
 */
export async function exportUser({ config, store, connect, signIn, deps }: Dependencies, userId: string) {
  const connections = (await connect.vault.list(userId)).map(connectionView)
  const others = (await store.ofOwner(userId))
    .filter(({ key }) => key.kind !== connectionKind(connect.platform.name))
    .map(({ key: { kind, id }, value }) => ({
      kind,
      id,
      value: isEncrypted(value) ? undefined : (parseJson(value) ?? value),
    }))
  const features: Record<string, unknown> = {}
  for (const [name, data] of await loadTools('userData'))
    features[name] = (await data.exportUser(deps, config.features[name], userId)) ?? undefined
  const account = await signIn.exportUser(userId)
  const isEmpty = connections.length + others.length === 0 && account === null
  if (isEmpty && Object.values(features).every((kept) => kept === undefined))
    throw new Error(`Nothing is stored about ${userId}. To find a user: npm run connections -- list TEXT`)
  return { signIn: account, connections, features, others }
}

/**
 * Ends a user's consents, and deletes all data about the user. Without `yes`, only throws an error that lists the data to delete.
 * Throws the errors of `exportUser` only after the deletion, because data that can't be exported must also be deleted.
 */
export async function deleteUser(
  app: Dependencies,
  userId: string,
  { yes }: { yes?: boolean },
): Promise<void> {
  const { config, store, sessionStore, connect, signIn, parts, deps } = app
  const kept = exportUser(app, userId)
  if (!yes) {
    const { signIn: account, connections, others } = await kept
    throw new Error(
      `This deletes all connections of ${userId} (${connections.length}), ${others.length} stored values${account ? ', and the account' : ''}. Add --yes. Nothing was changed.`,
    )
  }
  await kept.catch(() => {})
  // This comes first: a sign-in with accounts of its own then no longer accepts the user, who could store more data.
  await signIn.deleteUser(userId)
  await sessionStore.endAll(userId)
  for (const { bxcontext } of await connect.vault.list(userId)) {
    const consent = await connect.vault.disconnect({ userId, bxcontext })
    if (consent) print(`${bxcontext}: deleted. ${CONSENT[consent]}`)
  }
  for (const [name, data] of await loadTools('userData'))
    await data.deleteUser(deps, config.features[name], userId)
  // Stopping a feature writes its notes on the events above, so that it doesn't write them after the deletion.
  for (const part of parts) await part.stop?.()
  // The user may have signed in while this ran, and the next step deletes the list of sessions.
  await sessionStore.endAll(userId)
  for (const { key } of await store.ofOwner(userId)) await store.delete(key)
  await kept
  print(`${userId} is signed out everywhere, and everything else about ${userId} is deleted.`)
}
