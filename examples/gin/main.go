// Command shop is a shop on Gin: a purchase that is paid out once, and Apple's notifications.
// It reads config.json and keys.json of the current folder, and keeps shop.db there.
//
//	go run . setup             makes the tables, once
//	go run . 127.0.0.1:8080    serves
package main

import (
	"context"
	"errors"
	"log"
	"net/http"
	"os"

	"github.com/gin-gonic/gin"
)

func (s *shop) routes() *gin.Engine {
	router := gin.Default()
	router.POST("/v1/purchases", func(c *gin.Context) {
		var sent struct {
			JWS string `json:"jws" binding:"required"`
		}
		if read(c, &sent) {
			write(c, s.purchase(c.Request.Context(), c.GetHeader("Authorization"), sent.JWS))
		}
	})
	router.POST("/v1/notifications", func(c *gin.Context) {
		var sent struct {
			SignedPayload string `json:"signedPayload" binding:"required"`
		}
		if read(c, &sent) {
			write(c, s.notify(c.Request.Context(), sent.SignedPayload))
		}
	})
	return router
}

// read binds a body of at most 512 KiB; false: it has answered.
func read(c *gin.Context, into any) bool {
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, 512<<10)
	err := c.ShouldBindJSON(into)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		c.Status(http.StatusRequestEntityTooLarge)
	case err != nil:
		c.Status(http.StatusBadRequest)
	}
	return err == nil
}

func write(c *gin.Context, a answer) {
	if after := a.retryAfter(); after != "" {
		c.Header("Retry-After", after)
	}
	c.JSON(a.status, a.body)
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: shop setup | ADDRESS")
	}
	ctx := context.Background()
	opened, err := open(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if os.Args[1] == "setup" {
		err = opened.setup(ctx)
	} else {
		err = opened.routes().Run(os.Args[1])
	}
	if err != nil {
		log.Fatal(err)
	}
}
