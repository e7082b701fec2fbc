import { setImmediate } from 'node:timers/promises'
import type { Feature } from '../feature.ts'
import { createDispatcher } from './dispatcher.ts'
import { type ConnectionWebhooksSettings, connectionWebhooksSettings } from './settings.ts'

/** Sends connection events, such as a revocation, to your own system as signed webhooks (`CONNECTION_WEBHOOK_URL`). */
export const connectionWebhooks: Feature<ConnectionWebhooksSettings> = {
  name: 'connection-webhooks',
  settings: connectionWebhooksSettings,
  create({ connect, store, http, log }, settings) {
    if (!settings) return {}
    const { url, secrets, events } = settings
    // This pool waits for an answer for longer than that of the platform's API.
    const dispatcher = createDispatcher({ store, http: http.uploads, log, url, secrets })
    const stopListening = connect.onConnectionEvent((event) =>
      events.includes(event.type) ? dispatcher.add(event) : undefined,
    )
    return {
      start: dispatcher.start,
      deleteUser: dispatcher.deleteUser,
      gauges: () => [
        {
          name: 'connect_webhooks_waiting',
          help: 'Connection webhooks that wait for delivery.',
          values: [{ labels: {}, value: dispatcher.waiting() }],
        },
      ],
      async close() {
        // A refresh that is under way may end the grant. Listeners run in the next `setImmediate`.
        await connect.vault.idle()
        await setImmediate()
        stopListening()
        await dispatcher.close()
      },
    }
  },
}
