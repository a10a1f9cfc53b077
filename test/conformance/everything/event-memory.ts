import type { EventId, EventStore, JSONRPCMessage, StreamId } from '@modelcontextprotocol/server';

interface StoredEvent {
  readonly id: EventId;
  readonly streamId: StreamId;
  readonly message: JSONRPCMessage;
}

/** Keeps all events of one session, so that a stream that broke can go on. */
export class EventMemory implements EventStore {
  readonly #events: StoredEvent[] = [];

  storeEvent(streamId: StreamId, message: JSONRPCMessage): Promise<EventId> {
    const id = `${streamId}/${String(this.#events.length)}`;
    this.#events.push({ id, streamId, message });
    return Promise.resolve(id);
  }

  getStreamIdForEventId(id: EventId): Promise<StreamId | undefined> {
    return Promise.resolve(this.#events.find((event) => event.id === id)?.streamId);
  }

  async replayEventsAfter(
    lastId: EventId,
    { send }: { send: (id: EventId, message: JSONRPCMessage) => Promise<void> },
  ): Promise<StreamId> {
    const index = this.#events.findIndex((event) => event.id === lastId);
    const streamId = this.#events[index]?.streamId;
    if (streamId === undefined) throw new Error(`No event is called ${lastId}.`);
    for (const event of this.#events.slice(index + 1))
      if (event.streamId === streamId) await send(event.id, event.message);
    return streamId;
  }
}
