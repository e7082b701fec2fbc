import { appOwner, type Key } from '../../connect/stores.ts'

/** Where it is noted that this app created a catalogue, which therefore has nothing that is not from here. */
export const createdKey = (apiUrl: string, id: string): Key => ({
  kind: 'created-catalogue',
  owner: appOwner(apiUrl),
  id,
})
