package mcp

// maxMessageReceivers bounds the receivers of a connection. Further ones replace others.
const maxMessageReceivers = 64

// MessageReceiver receives the log messages of a session that the server sends on no reply. While a call with the same key
// runs, they are the call's. The zero value receives none.
type MessageReceiver struct {
	Key     string        // of the client
	Receive func(Message) // must return quickly
}

// addMessageReceiver lets a client receive the messages between its calls, until the connection ends. It opens their stream.
func (c *connection) addMessageReceiver(r MessageReceiver) {
	if r.Receive == nil || !c.era.hasServerRequests() {
		return
	}
	c.storeMessageReceiver(r)
	c.startServerStream()
}

func (c *connection) storeMessageReceiver(r MessageReceiver) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.messageReceivers == nil {
		c.messageReceivers = map[string]func(Message){}
	}
	if _, known := c.messageReceivers[r.Key]; !known && len(c.messageReceivers) >= maxMessageReceivers {
		for key := range c.messageReceivers {
			delete(c.messageReceivers, key)
			break
		}
	}
	c.messageReceivers[r.Key] = r.Receive
}

// deliverNotification passes a notification to the request that its stream belongs to. One of a shared stream is passed to all
// requests that may receive it, of each client to the oldest, and to the clients that make none now.
func (c *connection) deliverNotification(stream int, note Message) {
	requests, receivers := c.findReceivers(stream, note.Method)
	for _, w := range requests {
		w.invoke(func() { w.message(note) })
	}
	for _, receive := range receivers {
		receive(note)
	}
}

func (c *connection) findReceivers(stream int, method string) (requests []*requestCallbacks, receivers []func(Message)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if stream != 0 {
		if w := c.callbacks[stream]; w != nil && w.message != nil {
			requests = append(requests, w)
		}
		return requests, nil
	}
	oldest := map[string]int{} // request ids by client
	for id, w := range c.callbacks {
		switch first, seen := oldest[w.clientKey]; {
		case w.message == nil || w.ownStreamOnly:
		case w.clientKey == "":
			requests = append(requests, w)
		case !seen || id < first:
			oldest[w.clientKey] = id
		}
	}
	for _, id := range oldest {
		requests = append(requests, c.callbacks[id])
	}
	if method != logMessage {
		return requests, nil
	}
	for key, receive := range c.messageReceivers {
		if _, isCalling := oldest[key]; !isCalling {
			receivers = append(receivers, receive)
		}
	}
	return requests, receivers
}

const logMessage = "notifications/message"
